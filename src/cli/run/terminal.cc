#include "cli/run/terminal.h"

#include <fcntl.h>
#include <unistd.h>

namespace holdfast::cli {

Terminal::Terminal() : fd_{open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)} {}

bool Terminal::ours() const { return fd_ && tcgetpgrp(fd_.get()) == getpgrp(); }

TerminalUse Terminal::wanted() const {
  const bool interactive = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
  return interactive && ours() ? TerminalUse::at_once : TerminalUse::on_demand;
}

void Terminal::lend(pid_t group) {
  if (ours() && tcsetpgrp(fd_.get(), group) == 0) lent_ = true;
}

void Terminal::take_back() {
  if (lent_) tcsetpgrp(fd_.get(), getpgrp());
  lent_ = false;
}

}  // namespace holdfast::cli
