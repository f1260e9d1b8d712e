// Gives out tokens, each once, none that could be given out again after a crash.
//
// Thread safety: any thread of any process.

#pragma once

#include <atomic>
#include <functional>

#include "engines/local/state_file.h"
#include "holdfast/result.h"

namespace holdfast::local {

class TokenMint {
 public:
  /// `ask_for_more` is called, on any thread and without locks held, when reserve() should soon be
  /// called in the background so that nobody has to wait for the disk.
  TokenMint(StateFile& file, std::function<void()> ask_for_more)
      : header_{file.header()}, file_{file}, ask_for_more_{std::move(ask_for_more)} {}

  /// A token above every token given out before. No system call unless the reserve has run out.
  /// io_error: the disk did not take the reservation.
  Result<std::uint64_t> mint() {
    const std::uint64_t token = header_.next_token.fetch_add(1);
    const std::uint64_t limit = header_.token_limit.load(std::memory_order_acquire);
    if (token + header_.token_block.load(std::memory_order_relaxed) / 2 < limit) [[likely]] {
      return token;
    }
    return mint_near_limit(token, limit);
  }

  /// Brings a higher limit to the disk if anybody asked for more.
  Result<void> reserve_if_asked();

 private:
  Result<std::uint64_t> mint_near_limit(std::uint64_t token, std::uint64_t limit);
  Result<void> raise_limit(std::uint64_t above);

  Header& header_;
  StateFile& file_;
  std::function<void()> ask_for_more_;
  std::atomic<bool> asked_{false};
};

}  // namespace holdfast::local
