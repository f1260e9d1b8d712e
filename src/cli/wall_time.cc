#include "cli/wall_time.h"

#include <array>
#include <ctime>

namespace holdfast::cli {

std::int64_t wall_now_ms() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

std::string wall_time(std::int64_t since_epoch_ms) {
  const std::time_t seconds = since_epoch_ms / 1000;
  std::tm local{};
  localtime_r(&seconds, &local);
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &local);
  return {text.data(), size};
}

}  // namespace holdfast::cli
