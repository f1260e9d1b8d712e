// What the two processes of a duel and the one that watches them share.

#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "bench/compare/duel.h"
#include "holdfast/error.h"

namespace holdfast::bench {

/// In memory that processes share: nothing in it owns anything.
struct Stage {
  enum class Part : std::uint8_t { connecting, pairs, hand_overs, done, failed };

  std::atomic<Part> part{Part::connecting};
  /// The giver has connected; then the receiver has.
  std::atomic<bool> giver_ready{false};
  std::atomic<bool> receiver_ready{false};
  /// The turn for which the giver has taken the lock, and the last in which the receiver had it.
  std::atomic<int> turn{-1};
  std::atomic<int> had{-1};
  std::atomic<std::int64_t> had_at_ns{0};

  /// Written before the part is `done`.
  Figures figures{};

  /// The first failure, written before the part is `failed`.
  std::atomic<bool> failing{false};
  Errc code{Errc::internal};
  std::array<char, 512> message{};
  std::array<char, 512> remedy{};

  void fail(const Error& error) {
    if (failing.exchange(true)) return;
    code = error.code;
    copy(error.message, message);
    copy(error.remedy_text, remedy);
    part.store(Part::failed);
  }

  Error failure() const { return {code, message.data(), remedy.data()}; }

 private:
  // What does not fit is left out; the last byte stays 0.
  static void copy(std::string_view text, std::array<char, 512>& room) {
    std::copy_n(text.begin(), std::min(text.size(), room.size() - 1), room.begin());
  }
};

}  // namespace holdfast::bench
