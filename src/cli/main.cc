#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "cli/app.h"

namespace {

// With a standard descriptor closed, the next file opened would take its place and be written to
// as if it were the terminal. Closed on exec, so that a program we run finds it as we did.
void occupy_closed_standard_descriptors() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (fcntl(fd, F_GETFD) != -1) continue;
    if (open("/dev/null", O_RDWR | O_CLOEXEC) != fd) _exit(70);
  }
}

}  // namespace

int main(int argc, char** argv) {
  occupy_closed_standard_descriptors();
  return holdfast::cli::run_command_line(std::vector<std::string>(argv + (argc > 0), argv + argc));
}
