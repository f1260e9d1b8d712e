#include "base/frame_pool.h"

#include <array>
#include <cstdint>
#include <new>
#include <type_traits>

#ifdef __has_feature
#define HOLDFAST_HAS_FEATURE(feature) __has_feature(feature)
#else
#define HOLDFAST_HAS_FEATURE(feature) 0
#endif

namespace holdfast {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    HOLDFAST_HAS_FEATURE(address_sanitizer) || HOLDFAST_HAS_FEATURE(thread_sanitizer)
constexpr bool kKeeps = false;
#else
constexpr bool kKeeps = true;
#endif

constexpr std::size_t kFrameStep = 128;
constexpr std::size_t kLargestFrame = 4096;
constexpr std::uint32_t kKeptMax = 32;

struct FreeFrame {
  FreeFrame* next;
};

struct FreeList {
  FreeFrame* first{nullptr};
  std::uint32_t count{0};
};

enum class PoolState : std::uint8_t { untouched, open, ended };

// Frames may be freed by what else ends with a thread, so this outlives every destructor.
struct FramePool {
  std::array<FreeList, kLargestFrame / kFrameStep> lists{};
  PoolState state{PoolState::untouched};
};
static_assert(std::is_trivially_destructible_v<FramePool>);

constinit thread_local FramePool frame_pool;

struct Emptier {
  Emptier() { frame_pool.state = PoolState::open; }
  ~Emptier() {
    frame_pool.state = PoolState::ended;
    for (FreeList& list : frame_pool.lists) {
      while (list.first != nullptr) {
        FreeFrame* const frame = list.first;
        list.first = frame->next;
        ::operator delete(frame);
      }
      list.count = 0;
    }
  }
  Emptier(const Emptier&) = delete;
  Emptier& operator=(const Emptier&) = delete;
};

bool is_open() {
  if (frame_pool.state == PoolState::untouched) static thread_local const Emptier at_thread_end;
  return frame_pool.state == PoolState::open;
}

FreeList& list_for(std::size_t size) { return frame_pool.lists[(size - 1) / kFrameStep]; }

}  // namespace

void* take_frame(std::size_t size) {
  if (!kKeeps || size > kLargestFrame) return ::operator new(size);
  FreeList& list = list_for(size);
  FreeFrame* const frame = list.first;
  if (frame == nullptr) return ::operator new((size + kFrameStep - 1) / kFrameStep * kFrameStep);
  list.first = frame->next;
  --list.count;
  return frame;
}

void free_frame(void* frame, std::size_t size) noexcept {
  if (!kKeeps || size > kLargestFrame) return ::operator delete(frame);
  FreeList& list = list_for(size);
  if (list.count == kKeptMax || !is_open()) return ::operator delete(frame);
  list.first = ::new (frame) FreeFrame{list.first};
  ++list.count;
}

}  // namespace holdfast
