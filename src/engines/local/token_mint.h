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

  /// A token above every token given out before, or 0 when the reserve is low: then use mint().
  /// No system call.
  std::uint64_t mint_at_once() {
    const std::uint64_t limit = header_.token_limit.load(std::memory_order_acquire);
    const std::uint64_t half = header_.token_block.load(std::memory_order_relaxed) / 2;
    if (header_.next_token.load(std::memory_order_relaxed) + half >= limit) return 0;
    const std::uint64_t token = header_.next_token.fetch_add(1);
    return token < limit ? token : 0;
  }

  /// The same at the price of a system call. io_error: the disk did not take the reservation.
  Result<std::uint64_t> mint();

  /// Whether somebody asked for more.
  bool asked() const { return asked_.load(); }

  /// Brings a higher limit to the disk if anybody asked for more.
  Result<void> reserve_if_asked();

 private:
  Result<void> raise_limit(std::uint64_t above);

  Header& header_;
  StateFile& file_;
  std::function<void()> ask_for_more_;
  std::atomic<bool> asked_{false};
};

}  // namespace holdfast::local
