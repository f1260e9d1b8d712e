#include "base/fork.h"

#include <pthread.h>

#include <atomic>

#include "base/assert.h"

namespace holdfast {
namespace {

std::atomic<std::uint32_t> generation{0};

}  // namespace

std::uint32_t fork_generation() noexcept {
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { generation.fetch_add(1, std::memory_order_relaxed); });
  HOLDFAST_ASSERT(registered == 0);
  return generation.load(std::memory_order_relaxed);
}

}  // namespace holdfast
