#include "lab/bank.h"

#include <fmt/format.h>

#include <algorithm>

#include "lab/stage.h"

namespace holdfast::lab {
namespace {

void at_once(Stage& stage) {
  for (const Who who : {Who::a, Who::b}) {
    stage.read(who);
    stage.decide(who);
  }
  for (const Who who : {Who::a, Who::b}) stage.write(who);
  // Whoever was refused by a version reads again and decides again.
  if (stage.refused(Who::b)) {
    stage.read(Who::b);
    stage.decide(Who::b);
    stage.write(Who::b);
  }
}

void with_a_pause(Stage& stage) {
  for (const Who who : {Who::a, Who::b}) {
    stage.acquire(who);
    stage.open(who);
    stage.read(who);
    stage.decide(who);
    if (who == Who::a) stage.stop(who);
  }
  stage.write(Who::b);
  stage.resume(Who::a);
  stage.write(Who::a);
  stage.release(Who::a);
  stage.release(Who::b);
}

Access access_of(BankVariant variant) {
  if (variant == BankVariant::fenced) return Access::open_first;
  return variant == BankVariant::compare_and_swap ? Access::compare_and_swap : Access::plain;
}

bool takes_the_lock(BankVariant variant) {
  return variant == BankVariant::locked || variant == BankVariant::fenced;
}

}  // namespace

std::string_view to_string(BankVariant variant) {
  switch (variant) {
    case BankVariant::unlocked:
      return "unlocked";
    case BankVariant::locked:
      return "locked";
    case BankVariant::fenced:
      return "fenced";
    case BankVariant::compare_and_swap:
      return "compare_and_swap";
  }
  return "";
}

std::string_view title_of(BankVariant variant) {
  switch (variant) {
    case BankVariant::unlocked:
      return "unlocked";
    case BankVariant::locked:
      return "locked, and paused";
    case BankVariant::fenced:
      return "fenced, and paused";
    case BankVariant::compare_and_swap:
      return "compare-and-swap";
  }
  return "";
}

bool BankTake::paid(Who who) const {
  return std::ranges::any_of(scene.events, [who](const Event& event) {
    return event.who == who && event.step == Step::accepted;
  });
}

std::int64_t BankTake::paid_out() const { return kWithdrawal * count(scene, Step::accepted); }

bool BankTake::must_balance() const {
  return variant == BankVariant::fenced || variant == BankVariant::compare_and_swap;
}

std::vector<std::string> BankReport::differences() const {
  std::vector<std::string> found;
  for (const BankTake& take : takes) {
    const std::int64_t created = take.created();
    if (take.must_balance() && created != 0) {
      found.push_back(
          fmt::format("{}: the books are wrong by {}", title_of(take.variant), created));
    }
    if (take.must_balance() && count(take.scene, Step::refused) != 1) {
      found.push_back(
          fmt::format("{}: one write should have been refused", title_of(take.variant)));
    }
    if (!take.must_balance() && created <= 0) {
      found.push_back(
          fmt::format("{}: both should have been paid, and were not", title_of(take.variant)));
    }
  }
  return found;
}

Result<BankReport> run_bank(const BankOptions& options,
                            const std::function<void(const std::string&)>& progress) {
  BankReport report{.ttl = options.ttl};
  for (const BankVariant variant : {BankVariant::unlocked,
                                    BankVariant::locked,
                                    BankVariant::fenced,
                                    BankVariant::compare_and_swap}) {
    progress(std::string{title_of(variant)});
    auto scene = play({.engine = options.engine,
                       .subject = std::string{to_string(variant)},
                       .access = access_of(variant),
                       .initial = kDeposit,
                       .change = -kWithdrawal,
                       .ttl = options.ttl,
                       .interrupt = options.interrupt},
                      takes_the_lock(variant) ? with_a_pause : at_once);
    if (!scene) return Unexpected{scene.error()};
    report.takes.push_back({.variant = variant, .scene = std::move(*scene)});
  }
  return report;
}

}  // namespace holdfast::lab
