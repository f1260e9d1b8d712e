#include <fmt/format.h>

#include <algorithm>

#include "lab/scene_layout.h"

namespace holdfast::lab {
namespace {

constexpr double kValueHeight = 27;

void draw_value(Svg& svg, const Layout& at, double from, double to, std::int64_t value) {
  const Box all = at.resource();
  svg.rect({from, all.y, to - from, kValueHeight}, "cell", 5);
  svg.text({from + 12, all.y + 19}, std::to_string(value), "value");
}

void draw_values(Svg& svg, const Scene& scene, const Layout& at) {
  double from = at.resource().x;
  std::int64_t value = scene.initial;
  for (const Event& event : scene.events) {
    if (event.step != Step::accepted) continue;
    const double x = at.axis.x(event.at);
    draw_value(svg, at, from, x, value);
    from = x;
    value = event.value.value_or(value);
  }
  draw_value(svg, at, from, at.resource().right(), value);
}

bool shows_token(const Scene& scene, const Event& event) {
  const bool fenced = scene.access == Access::open_first || scene.access == Access::fenced_writes;
  return fenced && (event.step == Step::opened || event.step == Step::accepted);
}

void draw_fence(Svg& svg, const Scene& scene, const Layout& at) {
  const TokenNames names{scene};
  const Box all = at.resource();
  std::uint64_t highest = 0;
  for (const Event& event : scene.events) {
    if (!shows_token(scene, event) || event.token.value_or(0) <= highest) continue;
    highest = event.token.value_or(0);
    const double x = at.axis.x(event.at);
    svg.rect({x, all.y + kValueHeight, all.right() - x, all.height - kValueHeight}, "fence", 4);
    svg.text({x + 8, all.bottom() - 5.5}, "seen " + names(event.token), "tiny fence-text");
  }
}

// On the side from which the write did not come, where there is room.
void draw_lost(Svg& svg, const Scene& scene, const Layout& at) {
  const Box all = at.resource();
  for (const Overwrite& overwrite : overwrites(scene)) {
    const Event& by = scene.events[overwrite.by];
    const auto words =
        fmt::format("update of {} is lost", to_string(scene.events[overwrite.victim].who));
    const double width = text_width(words, 11.5) + 22;
    const double x = std::min(at.axis.x(by.at) - 10, at.frame.right() - width - 10);
    const double y = by.who == Who::a ? all.bottom() + 9 : all.y - 31;
    svg.rect({x, y, width, 22}, "lost", 11);
    svg.text({x + width / 2, y + 15.5}, words, "on middle");
  }
}

}  // namespace

void draw_resource(Svg& svg, const Scene& scene, const Layout& at) {
  svg.rect(at.resource(), "resource", 6);
  draw_fence(svg, scene, at);
  draw_values(svg, scene, at);
  draw_lost(svg, scene, at);
}

}  // namespace holdfast::lab
