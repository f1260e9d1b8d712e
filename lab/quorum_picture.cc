#include "lab/quorum_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/assert.h"
#include "lab/log_axis.h"
#include "lab/svg.h"

namespace holdfast::lab {
namespace {

constexpr double kWidth = 1120;
constexpr double kMargin = 40;
constexpr double kHeight = 760;
constexpr Box kCard{kMargin, 116, kWidth - 2 * kMargin, 560};
constexpr double kLeft = kCard.x + 84;
constexpr double kRight = kCard.x + kCard.width - 210;
constexpr double kTop = kCard.y + 36;
constexpr double kBottom = kCard.y + kCard.height - 64;
// Below this nobody can tell the difference, and a thousand powers of ten make no picture.
constexpr double kFloor = 1e-30;

struct Guide {
  double seconds;
  const char* words;
};
constexpr std::array<Guide, 3> kGuides{
    {{3600, "an hour a year"}, {60, "a minute a year"}, {1, "a second a year"}}};

struct Curve {
  double availability;
  std::vector<double> failures;
};

class Plot {
 public:
  Plot(const QuorumPlan& plan, std::vector<Curve> curves)
      : plan_{plan}, curves_{std::move(curves)}, y_{{least(curves_), 1}, kBottom, kTop} {}

  void draw(Svg& svg) const {
    draw_axes(svg);
    for (std::size_t i = 0; i < curves_.size(); ++i) draw_curve(svg, curves_[i], i);
    draw_names(svg);
  }

 private:
  static double least(const std::vector<Curve>& curves) {
    double least = 1;
    for (const Curve& curve : curves) least = std::min(least, std::ranges::min(curve.failures));
    return std::max(least, kFloor);
  }

  double x(int nodes) const {
    const int first = plan_.nodes.front();
    const int last = plan_.nodes.back();
    if (first == last) return (kLeft + kRight) / 2;
    return kLeft + 14 + (kRight - kLeft - 28) * (nodes - first) / (last - first);
  }

  void draw_axes(Svg& svg) const {
    for (const int exponent : y_.marks(12)) {
      const double y = y_.at(std::pow(10.0, exponent));
      svg.line({kLeft, y}, {kRight, y}, "lane");
      svg.text({kLeft - 10, y + 4}, power_of_ten(exponent), "soft end");
    }
    for (const Guide& guide : kGuides) {
      const double failure = guide.seconds / down_seconds_a_year(1);
      const double y = y_.at(failure);
      if (y >= kBottom) continue;
      svg.line({kLeft, y}, {kRight, y}, "guide");
      svg.text({kRight - 6, y - 4}, guide.words, "tiny soft end");
    }
    double free_from = 0;
    for (const int nodes : plan_.nodes) {
      if (x(nodes) < free_from) continue;
      svg.text({x(nodes), kBottom + 22}, std::to_string(nodes), "soft middle");
      free_from = x(nodes) + 22;
    }
    svg.text({(kLeft + kRight) / 2, kBottom + 46}, "nodes", "soft middle");
  }

  void draw_curve(Svg& svg, const Curve& curve, std::size_t colour) const {
    const std::string classes = fmt::format("series-{}", colour);
    for (std::size_t i = 1; i < plan_.nodes.size(); ++i) {
      svg.line({x(plan_.nodes[i - 1]), y_.at(curve.failures[i - 1])},
               {x(plan_.nodes[i]), y_.at(curve.failures[i])},
               classes + " curve");
    }
    for (std::size_t i = 0; i < plan_.nodes.size(); ++i) {
      const double failure = curve.failures[i];
      svg.begin_group(fmt::format("{} nodes of {} %: {:.2e}, {} a year",
                                  plan_.nodes[i],
                                  curve.availability,
                                  failure,
                                  time_words(down_seconds_a_year(failure))));
      svg.circle({x(plan_.nodes[i]), y_.at(failure)}, 4.5, classes);
      svg.end_group();
    }
  }

  // Beside the ends of the curves, and apart where those lie together.
  void draw_names(Svg& svg) const {
    std::vector<std::pair<double, std::size_t>> ends;
    for (std::size_t i = 0; i < curves_.size(); ++i) {
      ends.emplace_back(y_.at(curves_[i].failures.back()), i);
    }
    std::ranges::sort(ends);
    double free_from = kTop;
    for (const auto& [end, curve] : ends) {
      const double y = std::max(end, free_from);
      svg.circle({kRight + 26, y}, 4.5, fmt::format("series-{}", curve));
      svg.text(
          {kRight + 38, y + 4}, fmt::format("each up {} %", curves_[curve].availability), "bold");
      free_from = y + 20;
    }
  }

  const QuorumPlan& plan_;
  std::vector<Curve> curves_;
  LogAxis y_;
};

}  // namespace

Picture draw_quorum(const QuorumPlan& plan) {
  HOLDFAST_ASSERT(!plan.nodes.empty());
  HOLDFAST_ASSERT(!plan.availabilities.empty());
  HOLDFAST_ASSERT(plan.availabilities.size() <= kQuorumCurvesMax);
  std::vector<Curve> curves;
  for (const double availability : plan.availabilities) {
    curves.push_back({availability, quorum_failures(plan, availability)});
  }
  const std::string title = "How often no majority is up";
  Svg svg{kWidth, kHeight};
  svg.text({kMargin, 56}, title, "h1");
  svg.text(
      {kMargin, 86}, "The part of the time in which fewer than ⌊N/2⌋+1 of N nodes are up.", "lead");
  svg.rect(kCard, "card", 12);
  Plot{plan, std::move(curves)}.draw(svg);
  svg.text({kMargin, kHeight - 50},
           "Nodes fail independently of each other here. What they share fails for all of them at "
           "once: add that.",
           "soft");
  svg.text({kMargin, kHeight - 30},
           "An even number bears no more failures than one node fewer, and has one more that can "
           "fail.",
           "soft");
  return {.title = title, .svg = svg.finish(title)};
}

}  // namespace holdfast::lab
