#include "cli/run/shared_run.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <string>

namespace holdfast::cli {

void UnmapSharedRun::operator()(SharedRun* run) const { munmap(run, sizeof *run); }

Result<SharedRunPtr> map_shared_run() {
  void* memory =
      mmap(nullptr, sizeof(SharedRun), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return Unexpected{Error{Errc::io_error, std::string{"no shared memory: "} + strerror(errno)}};
  }
  return SharedRunPtr{new (memory) SharedRun};
}

}  // namespace holdfast::cli
