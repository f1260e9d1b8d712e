#include "lab/scene_picture.h"

#include <fmt/format.h>

#include <algorithm>

#include "lab/scene_layout.h"

namespace holdfast::lab {
namespace {

void draw_header(Svg& svg, const Panel& panel, const Layout& at) {
  const bool good = panel.tone == Panel::Tone::good;
  svg.rect(at.frame, "card", 12);
  svg.text({at.frame.x + 18, at.frame.y + 30}, panel.title, "h3");
  const double chip = text_width(panel.verdict, 12.5) + 26;
  const Box box{at.frame.right() - chip - 14, at.frame.y + 13, chip, 25};
  svg.rect(box, good ? "good-chip" : "bad-chip", 12.5);
  svg.text(
      {box.x + chip / 2, box.y + 17}, panel.verdict, good ? "good-text middle" : "bad-text middle");
}

void draw_both(Svg& svg, const Scene& scene, const Layout& at) {
  const auto both = overlap(scene);
  if (!both) return;
  const Box box{at.axis.x(both->from),
                at.top(),
                at.axis.x(both->to) - at.axis.x(both->from),
                at.bottom() - at.top()};
  svg.begin_group("Both processes believe that they hold the lock.");
  svg.rect(box, "both");
  svg.line({box.x, box.y}, {box.x, box.bottom()}, "edge");
  svg.line({box.right(), box.y}, {box.right(), box.bottom()}, "edge");
  svg.text(
      {box.x + box.width / 2, at.top() - 22}, "both believe they hold it", "tiny bad-text middle");
  svg.end_group();
}

void draw_beliefs(Svg& svg, const Scene& scene, const Layout& at) {
  const TokenNames names{scene};
  const auto paused = pauses(scene);
  for (const Span& span : beliefs(scene)) {
    const Box bar = at.bar(span);
    svg.begin_group(fmt::format("{} believes that it holds the lock, from {:.1f} ms to {:.1f} ms",
                                to_string(span.who),
                                to_ms(span.from),
                                to_ms(span.to)));
    svg.rect(bar, span.who == Who::a ? "a" : "b", 6);
    for (const Span& pause : paused) {
      if (pause.who == span.who) svg.rect(at.bar(pause), "paused");
    }
    const auto grant = std::ranges::find_if(scene.events, [&](const Event& event) {
      return event.who == span.who && event.step == Step::granted;
    });
    svg.text({bar.x + 8, bar.y + 19}, "token " + names(grant->token), "on");
    svg.end_group();
  }
  for (const Span& pause : paused) {
    const Box bar = at.bar(pause);
    const double middle = bar.x + bar.width / 2;
    svg.rect({middle - 28, bar.y + 6, 56, 16}, "label-box", 8);
    svg.text({middle, bar.y + 18}, "paused", "tiny bold middle");
  }
}

void draw_waiting(Svg& svg, const Scene& scene, const Layout& at) {
  for (std::size_t n = 0; n < scene.events.size(); ++n) {
    const Event& event = scene.events[n];
    if (event.step != Step::asked || !is_shown(scene, n)) continue;
    const auto granted = std::ranges::find_if(scene.events, [&](const Event& other) {
      return other.who == event.who && other.step == Step::granted;
    });
    if (granted == scene.events.end()) continue;
    const double y = at.lane(event.who);
    const double from = at.axis.x(event.at);
    const double to = at.axis.x(granted->at);
    svg.line({from, y}, {to - 4, y}, "waiting");
    svg.text({(from + to) / 2, y - 8}, "waits for it", "tiny soft middle");
  }
}

void draw_axis(Svg& svg, const Scene& scene, const Layout& at) {
  const double y = at.bottom() + 22;
  svg.line({at.axis.left(), y}, {at.resource().right(), y}, "axis");
  double free_from = 0;
  for (std::size_t n = 0; n < scene.events.size(); ++n) {
    if (!is_shown(scene, n)) continue;
    const double x = at.axis.x(scene.events[n].at);
    svg.line({x, y - 3}, {x, y + 3}, "axis");
    const std::string label = fmt::format("{:.1f}", to_ms(scene.events[n].at));
    const double half = text_width(label, 10.5) / 2 + 4;
    if (x - half < free_from || x + half > at.frame.right() - 34) continue;
    svg.text({x, y + 16}, label, "tiny soft middle");
    free_from = x + half;
  }
  svg.text({at.frame.right() - 16, y + 16}, "ms", "tiny soft end");
}

void draw_lanes(Svg& svg, const Panel& panel, const Layout& at) {
  for (const Who who : {Who::a, Who::b}) {
    const double y = at.lane(who);
    svg.line({at.axis.left(), y}, {at.resource().right(), y}, "lane");
    svg.text({at.frame.x + 18, y + 5},
             fmt::format("process {}", to_string(who)),
             who == Who::a ? "a-text" : "b-text");
  }
  svg.text({at.frame.x + 18, at.resource().y + 18}, panel.resource, "bold");
}

}  // namespace

void draw_panel(Svg& svg, const Panel& panel, Point origin, double width) {
  const Layout at{panel.scene, {origin.x, origin.y, width, kPanelHeight}};
  draw_header(svg, panel, at);
  draw_lanes(svg, panel, at);
  draw_both(svg, panel.scene, at);
  draw_waiting(svg, panel.scene, at);
  draw_beliefs(svg, panel.scene, at);
  draw_resource(svg, panel.scene, at);
  draw_operations(svg, panel.scene, at);
  draw_axis(svg, panel.scene, at);
}

}  // namespace holdfast::lab
