#include "base/frame_pool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace holdfast {
namespace {

TEST(FramePoolTest, FramesOfEverySizeAreApartFromEachOther) {
  std::vector<void*> frames;
  for (int round = 0; round < 3; ++round) {
    for (std::size_t size = 1; size <= 5000; size += 61) {
      frames.push_back(take_frame(size));
      std::memset(frames.back(), round, size);
    }
    EXPECT_EQ(std::set<void*>(frames.begin(), frames.end()).size(), frames.size());
    for (std::size_t size = 1; size <= 5000; size += 61) {
      free_frame(frames[(size - 1) / 61], size);
    }
    frames.clear();
  }
}

TEST(FramePoolTest, MoreThanAreKeptMayBeFreed) {
  std::vector<void*> frames(1000);
  for (void*& frame : frames) frame = take_frame(700);
  for (void* frame : frames) free_frame(frame, 700);
}

TEST(FramePoolTest, AFrameMayBeFreedOnAnotherThread) {
  void* frame = take_frame(300);
  std::thread{[frame] { free_frame(frame, 300); }}.join();
}

// Goal: what ends with a thread after its pool does may still free frames.
TEST(FramePoolTest, AFrameMayBeFreedWhenTheThreadEnds) {
  struct Holder {
    void* frame{take_frame(300)};
    ~Holder() { free_frame(frame, 300); }
  };
  std::thread{[] {
    static thread_local const Holder holder;
    EXPECT_NE(holder.frame, nullptr);
    free_frame(take_frame(300), 300);
  }}.join();
}

}  // namespace
}  // namespace holdfast
