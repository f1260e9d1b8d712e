// A bar on the terminal for work whose end is known, and for work whose end is not.

#pragma once

#include <cstdint>
#include <string_view>

#include "cli/console.h"
#include "holdfast/clock.h"

namespace holdfast::cli {

/// Draws on stderr if that is a terminal, and never with --json. Takes the line away when it ends.
/// Thread safety: none.
class ProgressBar {
 public:
  explicit ProgressBar(Format format);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// `part` is from 0 to 1. Draws only when a moment has passed since the last time.
  void show(double part, std::string_view words);

 private:
  bool shown_;
  bool drawn_{false};
  TimePoint next_{};
};

/// The bar itself, `columns` wide.
std::string bar_text(double part, int columns);

}  // namespace holdfast::cli
