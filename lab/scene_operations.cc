#include <fmt/format.h>

#include "lab/scene_layout.h"

namespace holdfast::lab {
namespace {

std::string label_of(const Event& event) {
  switch (event.step) {
    case Step::opened:
      return "open";
    case Step::read:
      return fmt::format("read {}", event.value.value_or(0));
    case Step::accepted:
    case Step::refused:
      return fmt::format("write {}", event.value.value_or(0));
    case Step::stopped:
      return "stop";
    case Step::continued:
      return "wake";
    case Step::released:
      return "release";
    case Step::found_lost:
      return "told";
    case Step::declined:
      return "decline";
    case Step::asked:
    case Step::granted:
    case Step::decided:
      break;
  }
  return {};
}

// Above the lane of A and below that of B.
void draw_label(Svg& svg, const Event& event, const Layout& at) {
  const std::string label = label_of(event);
  if (label.empty()) return;
  const bool write = event.step == Step::accepted || event.step == Step::refused;
  const double y =
      event.who == Who::a ? at.lane(Who::a) - 21 : at.lane(Who::b) + kBarHeight / 2 + 14;
  svg.text({at.axis.x(event.at), y}, label, write ? "label bold middle" : "label soft middle");
}

void draw_mark(Svg& svg, Point centre, Step step) {
  const bool good = step == Step::accepted;
  svg.circle(centre, 8.5, good ? "good" : "bad");
  const auto [x, y] = centre;
  if (good) {
    svg.line({x - 3.6, y + 0.2}, {x - 1, y + 3}, "mark");
    svg.line({x - 1, y + 3}, {x + 3.8, y - 3}, "mark");
  } else {
    svg.line({x - 3, y - 3}, {x + 3, y + 3}, "mark");
    svg.line({x - 3, y + 3}, {x + 3, y - 3}, "mark");
  }
}

void draw_write(Svg& svg, const Event& event, Point from, Point to) {
  svg.arrow(from, to, event.step == Step::accepted ? "accepted" : "refused");
  draw_mark(svg, {from.x, (from.y + to.y) / 2}, event.step);
}

void draw_reason(Svg& svg, const Event& event, const TokenNames& names, Point middle) {
  const std::string reason = event.highest
                                 ? fmt::format("{} < {}", names(event.token), names(event.highest))
                                 : "another version";
  svg.text({middle.x + 14, middle.y + 4}, reason, "tiny bad-text");
}

}  // namespace

void draw_operations(Svg& svg, const Scene& scene, const Layout& at) {
  const TokenNames names{scene};
  const Box resource = at.resource();
  for (const Event& event : scene.events) {
    const double x = at.axis.x(event.at);
    const double bar = kBarHeight / 2;
    const bool above = event.who == Who::a;
    const Point actor{x, at.lane(event.who) + (above ? bar : -bar)};
    const Point edge{x, above ? resource.y : resource.bottom()};
    svg.begin_group(fmt::format(
        "{} {} at {:.3f} ms", to_string(event.who), to_string(event.step), to_ms(event.at)));
    if (event.step == Step::read) svg.arrow(edge, actor, "read");
    if (event.step == Step::opened) svg.arrow(actor, edge, "open");
    if (event.step == Step::accepted || event.step == Step::refused) {
      draw_write(svg, event, actor, edge);
    }
    if (event.step == Step::refused) {
      draw_reason(svg, event, names, {x, (actor.y + edge.y) / 2});
    }
    draw_label(svg, event, at);
    svg.end_group();
  }
}

}  // namespace holdfast::lab
