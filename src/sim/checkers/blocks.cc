#include "sim/checkers/blocks.h"

#include <algorithm>
#include <utility>

#include "sim/checkers/lock_order.h"
#include "sim/checkers/sentence.h"

namespace holdfast::sim {
namespace {

/// The log of one lock as far as it was read.
struct TokenLog {
  Token last{0};
  /// In ascending order.
  std::vector<Token> seen;
};

/// Whether the token is new to the log.
bool enters(TokenLog& log, Token token) {
  const auto place = std::lower_bound(log.seen.begin(), log.seen.end(), token);
  if (place != log.seen.end() && *place == token) return false;
  log.seen.insert(place, token);
  return true;
}

Violation not_a_block(const Served& served, Token before, std::string_view what) {
  return {"G2",
          sentence("lock ",
                   served.lock,
                   ": ",
                   served.token,
                   ", sequence ",
                   served.sequence,
                   ", was accepted at ",
                   served.at,
                   " after an operation with ",
                   before,
                   " and ",
                   what)};
}

}  // namespace

Violations check_blocks(const History& history) {
  Violations found;
  std::vector<TokenLog> logs;
  for (const Served& served : history.served) {
    if (served.verdict != Verdict::accepted || served.token == Token{0}) continue;
    TokenLog& log = state_of(logs, served.lock);
    if (log.last == served.token) continue;
    const Token before = std::exchange(log.last, served.token);
    if (!enters(log, served.token)) {
      found.push_back(not_a_block(served, before, "others with its token had come earlier"));
    } else if (served.verb != Verb::open) {
      found.push_back(not_a_block(served, before, "was the first of its token, but no open"));
    }
  }
  return found;
}

}  // namespace holdfast::sim
