#include "lab/scene_layout.h"

namespace holdfast::lab {
namespace {

constexpr double kLabels = 108;
// Room for the last value after the last event.
constexpr double kRightEdge = 74;
constexpr Millis kNotice{20};

std::vector<Duration> moments_of(const Scene& scene) {
  std::vector<Duration> moments;
  for (std::size_t n = 0; n < scene.events.size(); ++n) {
    const Duration at = scene.events[n].at;
    const bool later = moments.empty() || at > moments.back();
    if (later && is_shown(scene, n)) moments.push_back(at);
  }
  return moments;
}

}  // namespace

bool is_shown(const Scene& scene, std::size_t place) {
  const Event& event = scene.events[place];
  if (event.step == Step::decided) return false;
  if (event.step != Step::asked) return true;
  const bool granted_next = place + 1 < scene.events.size() &&
                            scene.events[place + 1].step == Step::granted &&
                            scene.events[place + 1].who == event.who;
  return !granted_next || scene.events[place + 1].at - event.at >= kNotice;
}

Layout::Layout(const Scene& scene, const Box& frame_in)
    : frame{frame_in},
      axis{moments_of(scene), frame_in.x + kLabels, frame_in.right() - kRightEdge} {}

Box Layout::resource() const {
  const double middle = (lane(Who::a) + lane(Who::b)) / 2;
  const double left = axis.left() - 10;
  return {left, middle - 23, frame.right() - 18 - left, 46};
}

Box Layout::bar(const Span& span) const {
  const double x = axis.x(span.from);
  return {x, lane(span.who) - kBarHeight / 2, axis.x(span.to) - x, kBarHeight};
}

}  // namespace holdfast::lab
