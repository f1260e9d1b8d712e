// The terminal as a screen that is painted over and over, and is as it was afterwards.

#pragma once

#include <termios.h>

#include <optional>
#include <string>
#include <vector>

#include "cli/top/board_text.h"

namespace holdfast::cli {

/// While it lives, stdout shows the terminal's other screen without a cursor, and keys typed on
/// stdin can be read at once. Thread safety: none.
class Screen {
 public:
  Screen() { show(); }
  ~Screen() { hide(); }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  static ScreenSize size();

  /// Replaces what is shown.
  void paint(const std::vector<std::string>& lines);

  /// The terminal as it was, as for a shell while the process is stopped; and back again.
  void hide();
  void show();

 private:
  void write(const std::string& text);

  std::optional<termios> before_;
};

}  // namespace holdfast::cli
