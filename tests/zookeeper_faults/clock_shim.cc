// Preloaded into a server: its wall clock is ahead by as many seconds as the first eight bytes of
// the file say that HOLDFAST_CLOCK_STEP names. Its monotonic clock is the machine's.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

using GetTime = int (*)(clockid_t, timespec*);

const volatile std::int64_t* map_step() {
  const int file = open(std::getenv("HOLDFAST_CLOCK_STEP"), O_RDONLY);
  void* const mapped = mmap(nullptr, sizeof(std::int64_t), PROT_READ, MAP_SHARED, file, 0);
  close(file);
  return static_cast<const volatile std::int64_t*>(mapped);
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static const auto real = reinterpret_cast<GetTime>(dlsym(RTLD_NEXT, "clock_gettime"));
  static const volatile std::int64_t* const step = map_step();
  const int failed = real(clock, time);
  if (failed == 0 && clock == CLOCK_REALTIME) time->tv_sec += *step;
  return failed;
}
