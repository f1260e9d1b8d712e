// `holdfast lab bank`: two processes withdraw 80 from an account of 100 at the same time.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/result.h"
#include "lab/timeline.h"

namespace holdfast::lab {

inline constexpr std::int64_t kDeposit = 100;
inline constexpr std::int64_t kWithdrawal = 80;

enum class BankVariant : std::uint8_t {
  unlocked,
  /// Under a lock, and A is paused past its lease between its check and its write.
  locked,
  /// The same, with open before read.
  fenced,
  compare_and_swap,
};

std::string_view to_string(BankVariant variant);
std::string_view title_of(BankVariant variant);

struct BankTake {
  BankVariant variant{BankVariant::unlocked};
  Scene scene{};

  /// Whoever's write was accepted has handed out the money.
  bool paid(Who who) const;
  std::int64_t paid_out() const;
  /// Paid out and still stored, less what was deposited. 0: the books balance.
  std::int64_t created() const { return paid_out() + scene.final_value - kDeposit; }
  bool must_balance() const;
};

struct BankReport {
  Millis ttl{0};
  std::vector<BankTake> takes{};

  /// What is not as it must be, for people. Empty: all is.
  std::vector<std::string> differences() const;
};

struct BankOptions {
  std::string engine;
  Millis ttl{300};
  int interrupt{-1};
};

Result<BankReport> run_bank(const BankOptions& options,
                            const std::function<void(const std::string&)>& progress);

}  // namespace holdfast::lab
