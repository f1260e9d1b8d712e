#include "lab/world_marks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace holdfast::lab {
namespace {

using sim::EventKind;

double milliseconds(Duration time) {
  return std::chrono::duration<double, std::milli>{time}.count();
}

// The last digits tell long tokens apart.
std::string short_token(std::uint64_t token) {
  const std::string digits = std::to_string(token);
  return digits.size() <= 6 ? digits : "…" + digits.substr(digits.size() - 4);
}

class WorldDrawing {
 public:
  WorldDrawing(Svg& svg,
               const sim::SeedReport& report,
               const WorldScene& scene,
               const WorldLayout& at)
      : svg_{svg}, report_{report}, scene_{scene}, at_{at}, names_{report.hosts} {
    for (const WorldEvent& event : scene.events) {
      if (event.kind == EventKind::served || event.kind == EventKind::found_stale) {
        served_.emplace(event.number, &event);
      }
    }
  }

  void draw() {
    lanes();
    for (const Stretch& pause : scene_.pauses) {
      patch(pause, "resource", fmt::format("{} is paused", names_.of(pause.host)));
    }
    for (const Stretch& outage : scene_.outages) {
      patch(outage, "down", fmt::format("{} is down", names_.of(outage.host)));
    }
    clashes();
    for (const Letter& letter : scene_.letters) message(letter);
    for (const Holding& holding : scene_.holdings) belief(holding);
    for (const Stretch& pause : scene_.pauses) stripes(pause);
    for (const WorldEvent& event : scene_.events) remark(event);
    times();
    broken();
  }

 private:
  void lanes();
  void patch(const Stretch& when, std::string_view kind, std::string_view title);
  void stripes(const Stretch& pause);
  void clashes();
  void belief(const Holding& holding);
  void message(const Letter& letter);
  std::string class_of(const Letter& letter) const;
  void lost(Point from, Point to);
  void remark(const WorldEvent& event);
  void times();
  void broken();
  std::size_t lock_of(const Holding& holding) const;
  std::string span_in_words(Duration from, Duration to) const;

  Svg& svg_;
  const sim::SeedReport& report_;
  const WorldScene& scene_;
  const WorldLayout& at_;
  sim::HostNames names_;
  /// What the resource did with a request, by its number.
  std::map<std::uint64_t, const WorldEvent*> served_;
};

std::string WorldDrawing::span_in_words(Duration from, Duration to) const {
  const std::string begin = fmt::format("from {:.3f} ms", milliseconds(from));
  return to > scene_.end ? begin + " to the end"
                         : begin + fmt::format(" to {:.3f} ms", milliseconds(to));
}

void WorldDrawing::lanes() {
  svg_.rect(at_.frame(), "card", 12);
  for (const sim::HostName& host : report_.hosts) {
    const double y = at_.y(host.host);
    svg_.line({at_.axis().left(), y}, {at_.axis().right(), y}, "lane");
    svg_.text({at_.frame().x + 18, y + 4}, host.name, "bold");
  }
}

void WorldDrawing::patch(const Stretch& when, std::string_view kind, std::string_view title) {
  svg_.begin_group(fmt::format(
      "{} from {:.3f} ms to {:.3f} ms", title, milliseconds(when.from), milliseconds(when.to)));
  svg_.rect(at_.lane(when), kind, 4);
  svg_.end_group();
}

void WorldDrawing::stripes(const Stretch& pause) {
  const Box box = at_.lane(pause);
  svg_.rect(box, "paused", 4);
  if (box.width < 62) return;
  const double middle = box.x + box.width / 2;
  svg_.rect({middle - 26, box.bottom() - 15, 52, 14}, "label-box", 7);
  svg_.text({middle, box.bottom() - 4}, "paused", "tiny bold middle");
}

std::size_t WorldDrawing::lock_of(const Holding& holding) const {
  return static_cast<std::size_t>(std::ranges::find(scene_.locks, holding.lock) -
                                  scene_.locks.begin());
}

void WorldDrawing::clashes() {
  for (const Conflict& conflict : conflicts(scene_.holdings)) {
    const Holding& one = scene_.holdings[conflict.one];
    const Holding& other = scene_.holdings[conflict.other];
    const auto [upper, lower] = std::minmax({at_.y(one.when.host), at_.y(other.when.host)});
    const double from = at_.x(conflict.from);
    const double to = std::max(from + 2, at_.x(conflict.to));
    svg_.begin_group(fmt::format("{} and {} both believe that they hold {}, {}",
                                 names_.of(one.when.host),
                                 names_.of(other.when.host),
                                 one.lock,
                                 span_in_words(conflict.from, conflict.to)));
    svg_.rect({from, upper - 22, to - from, lower - upper + 44}, "both");
    svg_.line({from, upper - 22}, {from, lower + 22}, "edge");
    svg_.line({to, upper - 22}, {to, lower + 22}, "edge");
    svg_.end_group();
  }
}

void WorldDrawing::belief(const Holding& holding) {
  const std::size_t lock = lock_of(holding);
  const Box bar = at_.bar(holding.when, lock, scene_.locks.size());
  const std::string with = holding.token == 0 ? "" : fmt::format(" with token {}", holding.token);
  svg_.begin_group(fmt::format("{} believes that it holds {}{}, {}",
                               names_.of(holding.when.host),
                               holding.lock,
                               with,
                               span_in_words(holding.when.from, holding.when.to)));
  svg_.rect(bar, lock == 0 ? "a" : "b", 4);
  const std::string token = holding.token == 0 ? "" : short_token(holding.token);
  const std::string label = token.empty() ? holding.lock : holding.lock + " " + token;
  const bool fits = text_width(label, 10.5) + 10 < bar.width;
  const bool token_fits = text_width(token, 10.5) + 8 < bar.width;
  if (fits || token_fits) {
    svg_.text({bar.x + 5, bar.bottom() - 3.5}, fits ? label : token, "tiny on");
  }
  svg_.end_group();
}

std::string WorldDrawing::class_of(const Letter& letter) const {
  const auto found = served_.find(letter.number);
  const bool to_resource = names_.of(letter.to) == "resource";
  if (!to_resource || found == served_.end()) return "message";
  if (found->second->kind == EventKind::found_stale) return "refused";
  if (found->second->text.starts_with("write")) return "accepted";
  return found->second->text.starts_with("open") ? "open" : "read";
}

void WorldDrawing::lost(Point from, Point to) {
  const Point middle{(from.x + to.x) / 2, (from.y + to.y) / 2};
  svg_.line(from, middle, "edge");
  svg_.line({middle.x - 3, middle.y - 3}, {middle.x + 3, middle.y + 3}, "cross");
  svg_.line({middle.x - 3, middle.y + 3}, {middle.x + 3, middle.y - 3}, "cross");
}

void WorldDrawing::message(const Letter& letter) {
  const bool down = at_.y(letter.to) > at_.y(letter.from);
  // Letters end at the edge of a lane, and leave its bars free to be read.
  const double edge = down ? 18 : -18;
  const Point from{at_.x(letter.sent), at_.y(letter.from) + edge};
  const Point to{at_.x(letter.ended), at_.y(letter.to) - edge};
  const bool gone = letter.fate == Letter::Fate::lost;
  svg_.begin_group(fmt::format("#{} {} → {}, {:.3f} ms to {:.3f} ms{}",
                               letter.number,
                               names_.of(letter.from),
                               names_.of(letter.to),
                               milliseconds(letter.sent),
                               milliseconds(letter.ended),
                               gone ? ", lost" : ""));
  if (gone) {
    lost(from, to);
  } else {
    svg_.arrow(from, to, class_of(letter));
  }
  svg_.end_group();
}

void WorldDrawing::remark(const WorldEvent& event) {
  const Point at{at_.x(event.when.time_since_epoch()), at_.y(event.host)};
  const auto say = [&](std::string_view words, std::string_view tone) {
    svg_.text({at.x, at.y - 24}, words, fmt::format("label middle {}", tone));
  };
  svg_.begin_group(sim::to_text(sim::describe(event, names_)));
  switch (event.kind) {
    case EventKind::ran:
      svg_.circle(at, 3, "dot");
      break;
    case EventKind::served:
    case EventKind::found_stale:
      say(event.text.substr(0, event.text.find(' ')),
          event.kind == EventKind::served ? "soft" : "bad-text");
      svg_.circle(at, 3.5, event.kind == EventKind::served ? "good" : "bad");
      break;
    case EventKind::crashed:
      say("crash", "bad-text");
      break;
    case EventKind::clock_changed:
      say("clock stepped", "bad-text");
      break;
    case EventKind::member_changed:
      say(event.text, "bad-text");
      break;
    case EventKind::warned:
      if (event.text.starts_with("lost")) say("told: lost", "bad-text");
      break;
    case EventKind::healed:
      svg_.line({at.x, at_.top()}, {at.x, at_.bottom()}, "axis");
      svg_.text({at.x, at_.top() - 8}, "healed", "label middle good-text");
      break;
    default:
      break;
  }
  svg_.end_group();
}

void WorldDrawing::times() {
  const double y = at_.bottom() + 4;
  svg_.line({at_.axis().left(), y}, {at_.axis().right(), y}, "axis");
  double free_from = 0;
  for (const WorldEvent& event : scene_.events) {
    const Duration time = event.when.time_since_epoch();
    const double x = at_.x(time);
    const std::string label = fmt::format("{:.1f}", milliseconds(time));
    const double half = text_width(label, 10.5) / 2 + 6;
    if (x - half < free_from) continue;
    svg_.line({x, y - 3}, {x, y + 3}, "axis");
    svg_.text({x, y + 16}, label, "tiny soft middle");
    free_from = x + half;
  }
  svg_.text({at_.frame().x + 18, y + 16}, "ms", "tiny soft");
}

// A world that was not healed was ended by whoever wanted to see where its promise breaks.
void WorldDrawing::broken() {
  const bool healed = std::ranges::any_of(
      report_.trace, [](const WorldEvent& event) { return event.kind == EventKind::healed; });
  if (report_.violations.empty() || healed || scene_.events.empty()) return;
  const double x = at_.x(scene_.end);
  svg_.line({x, at_.top() - 4}, {x, at_.bottom()}, "broken");
  svg_.text({x, at_.top() - 10},
            fmt::format("{} broken", report_.violations.front().checker),
            "tiny middle bad-text");
}

}  // namespace

void draw_world_marks(Svg& svg,
                      const sim::SeedReport& report,
                      const WorldScene& scene,
                      const WorldLayout& at) {
  WorldDrawing{svg, report, scene, at}.draw();
}

}  // namespace holdfast::lab
