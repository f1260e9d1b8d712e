#include "cli/top/screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

namespace holdfast::cli {
namespace {

constexpr const char* kEnter = "\x1b[?1049h\x1b[?25l";
constexpr const char* kLeave = "\x1b[?25h\x1b[?1049l";
constexpr const char* kHome = "\x1b[H";
constexpr const char* kEndOfLine = "\x1b[K";
constexpr const char* kBelow = "\x1b[J";

}  // namespace

ScreenSize Screen::size() {
  winsize window{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0;
  return known ? ScreenSize{.columns = window.ws_col, .lines = window.ws_row}
               : ScreenSize{.columns = 80, .lines = 24};
}

void Screen::write(const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    // A terminal that is gone needs no picture.
    if (written <= 0) return;
    done += static_cast<std::size_t>(written);
  }
}

void Screen::show() {
  termios now{};
  if (tcgetattr(STDIN_FILENO, &now) == 0) {
    before_ = now;
    now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    tcsetattr(STDIN_FILENO, TCSANOW, &now);
  }
  write(kEnter);
}

void Screen::hide() {
  write(kLeave);
  if (before_) tcsetattr(STDIN_FILENO, TCSANOW, &*before_);
  before_.reset();
}

void Screen::paint(const std::vector<std::string>& lines) {
  std::string text = kHome;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    text += (at == 0 ? "" : "\r\n") + lines[at] + kEndOfLine;
  }
  write(text + kBelow);
}

}  // namespace holdfast::cli
