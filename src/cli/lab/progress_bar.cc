#include "cli/lab/progress_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace holdfast::cli {
namespace {

constexpr int kColumns = 28;
constexpr Millis kBetweenDraws{100};
constexpr std::string_view kClearLine = "\r\x1b[K";

}  // namespace

ProgressBar::ProgressBar(Format format)
    : shown_{format == Format::human && isatty(STDERR_FILENO) == 1} {}

ProgressBar::~ProgressBar() {
  if (!drawn_) return;
  fmt::print(stderr, "{}", kClearLine);
  std::fflush(stderr);
}

void ProgressBar::show(double part, std::string_view words) {
  const TimePoint now = BootClock::now();
  if (!shown_ || now < next_) return;
  next_ = now + kBetweenDraws;
  drawn_ = true;
  fmt::print(
      stderr, "{}{} {:>3.0f} %  {}", kClearLine, bar_text(part, kColumns), part * 100, words);
  std::fflush(stderr);
}

std::string bar_text(double part, int columns) {
  const int full = static_cast<int>(std::clamp(part, 0.0, 1.0) * columns);
  std::string text;
  for (int i = 0; i < columns; ++i) text += i < full ? "█" : "░";
  return text;
}

}  // namespace holdfast::cli
