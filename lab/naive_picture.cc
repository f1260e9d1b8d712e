#include <fmt/format.h>

#include "lab/sheet.h"
#include "lab/svg.h"

namespace holdfast::lab {
namespace {

constexpr double kWidth = 1120;
constexpr double kMargin = 40;
constexpr double kCardHeight = 174;
constexpr double kBarLeft = kMargin + 24;
constexpr double kBarRight = kWidth - kMargin - 220;

double share(std::int64_t part, std::int64_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

void draw_bar(Svg& svg, const NaiveRun& run, double y) {
  const double width = kBarRight - kBarLeft;
  const double kept = width * share(run.final_value, run.attempted());
  svg.rect({kBarLeft, y, width, 44}, "resource", 8);
  svg.rect({kBarLeft, y, kept, 44}, "kept", 8);
  if (kept < width) {
    svg.rect({kBarLeft + kept, y, width - kept, 44}, "lost", 8);
    svg.rect({kBarLeft + kept, y, width - kept, 44}, "paused", 8);
  }
  svg.text({kBarLeft + 14, y + 28}, fmt::format("counter {}", run.final_value), "h3 on");
}

// What each process has written, side by side: how the work was shared.
void draw_shares(Svg& svg, const NaiveRun& run, double y) {
  double x = kBarLeft;
  for (std::size_t n = 0; n < run.accepted.size(); ++n) {
    const double width = (kBarRight - kBarLeft) * share(run.accepted[n], run.attempted());
    svg.rect({x + 1, y, width - 2, 8}, n % 2 == 0 ? "a" : "b", 3);
    if (run.accepted.size() <= 8) {
      svg.text({x + width / 2, y + 24},
               fmt::format("process {}: {}", n + 1, run.accepted[n]),
               "tiny soft middle");
    }
    x += width;
  }
}

void draw_card(Svg& svg, const NaiveRun& run, double y) {
  const bool naive = run.guard == Guard::check_then_set;
  svg.rect({kMargin, y, kWidth - 2 * kMargin, kCardHeight}, "card", 12);
  svg.text({kBarLeft, y + 34}, naive ? "Look, then take" : "Holdfast", "h2");
  svg.text({kBarLeft, y + 56},
           naive ? "if (!get(lock)) put(lock): between the two, somebody else looks as well."
                 : "acquire, open, read, write: the counter checks the token.",
           "lead");
  draw_bar(svg, run, y + 76);
  draw_shares(svg, run, y + 130);
  const double middle = (kBarRight + kWidth - kMargin) / 2;
  const bool good = run.lost() == 0;
  svg.text(
      {middle, y + 100}, std::to_string(run.lost()), good ? "huge good middle" : "huge bad middle");
  svg.text({middle, y + 122},
           fmt::format("of {} lost", run.attempted()),
           good ? "good-text middle" : "bad-text middle");
}

}  // namespace

Picture draw(const NaiveReport& report) {
  const std::string title = "A lock that looks first and takes it then";
  Svg svg{kWidth, 120 + 2 * (kCardHeight + 20) + 20};
  svg.text({kMargin, 56}, title, "h1");
  svg.text({kMargin, 86},
           fmt::format("{} processes increment one counter {} times each.",
                       report.naive.accepted.size(),
                       report.naive.rounds),
           "lead");
  draw_card(svg, report.naive, 120);
  draw_card(svg, report.holdfast, 120 + kCardHeight + 20);
  return {.title = title, .svg = svg.finish(title)};
}

}  // namespace holdfast::lab
