#include "cli/run/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace holdfast::cli {

void leave_standard_streams() {
  const UniqueFd nowhere{open("/dev/null", O_RDWR | O_CLOEXEC)};
  if (!nowhere) return;
  dup2(nowhere.get(), STDIN_FILENO);
  dup2(nowhere.get(), STDOUT_FILENO);
}

}  // namespace holdfast::cli
