#include "sim/checkers/fence_order.h"

#include "sim/checkers/lock_order.h"
#include "sim/checkers/sentence.h"

namespace holdfast::sim {
namespace {

/// What a fence remembers.
struct FenceMark {
  /// The accepted operation highest in (token, sequence). Null: none yet.
  const Served* highest{nullptr};
  /// The first one accepted with that token.
  const Served* first{nullptr};
};

bool rises(const FenceMark& mark, const Served& served) {
  if (mark.highest == nullptr || mark.highest->token < served.token) return true;
  return mark.highest->token == served.token && mark.highest->sequence < served.sequence;
}

/// Whether a read without a number has the token that counts.
bool is_current_read(const FenceMark& mark, const Served& served) {
  return served.verb == Verb::read && served.sequence == 0 && mark.highest->token == served.token;
}

bool repeats(const Served& served, const Served& before) {
  return served.operation == before.operation && served.token == before.token &&
         served.sequence == before.sequence;
}

bool allowed_again(const FenceMark& mark, const Served& served) {
  return repeats(served, *mark.highest) ||
         (served.verb == Verb::open && repeats(served, *mark.first));
}

Violation wrong_verdict(const Served& served, const FenceMark& mark, std::string_view verdict) {
  const std::string seen =
      mark.highest == nullptr
          ? std::string{"before any other"}
          : sentence("after ", mark.highest->token, ", sequence ", mark.highest->sequence);
  return {"G1",
          sentence("lock ",
                   served.lock,
                   ": the resource ",
                   verdict,
                   " ",
                   served.token,
                   ", sequence ",
                   served.sequence,
                   " at ",
                   served.at,
                   ", ",
                   seen)};
}

}  // namespace

Violations check_fence_order(const History& history) {
  Violations found;
  std::vector<FenceMark> marks;
  for (const Served& served : history.served) {
    if (served.token == Token{0}) continue;
    FenceMark& mark = state_of(marks, served.lock);
    const bool higher = rises(mark, served);
    const bool due = higher || is_current_read(mark, served);
    if (served.verdict == Verdict::refused) {
      if (due) found.push_back(wrong_verdict(served, mark, "refused"));
    } else if (higher) {
      const bool same_token = mark.highest != nullptr && mark.highest->token == served.token;
      mark = {&served, same_token ? mark.first : &served};
    } else if (!due && !allowed_again(mark, served)) {
      found.push_back(wrong_verdict(served, mark, "accepted"));
    }
  }
  return found;
}

}  // namespace holdfast::sim
