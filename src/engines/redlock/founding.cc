#include "engines/redlock/founding.h"

#include <algorithm>
#include <utility>

#include "base/decimal.h"
#include "core/validity.h"
#include "engines/redlock/founding_scripts.h"
#include "engines/redlock/member_gate.h"
#include "engines/redlock/verdict.h"

namespace holdfast::redlock {
namespace {

using namespace std::chrono_literals;

// Between two looks at the clock and the caller's wish to stop.
constexpr Duration kTick = 100ms;
// No engine takes longer over an attempt, and none longer than a TTL.
constexpr Millis kLongestAttempt{2000};
// How many tokens one epoch has.
constexpr int kEpochBits = 40;

using Views = std::vector<NodeView>;

Task<Result<redis::Reply>> ask(const Ground& ground, std::size_t node, redis::SharedCall call) {
  auto reply = co_await ground.nodes[node]->eval(call, ground.env.now() + ground.timeout);
  if (reply && reply->kind == redis::Reply::Kind::error) reply = Unexpected{node_error(*reply)};
  co_return reply;
}

Error at_node(const Ground& ground, std::size_t node, Error error) {
  error.message = ground.names[node] + ": " + error.message;
  return error;
}

Task<Views> look(const Ground& ground) {
  redis::SharedCall call =
      redis::share({.script = &kLookScript, .keys = {Keys::membership(ground.prefix)}, .args = {}});
  Enough all = [](const Answers&) { return false; };
  const TimePoint by = ground.env.now() + ground.timeout;
  const Answers answers =
      co_await ask_nodes(ground.env, ground.nodes, std::move(call), by, std::move(all));
  Views views;
  for (std::size_t node = 0; node < answers.size(); ++node) {
    NodeView view{.name = ground.names[node]};
    const auto& answer = *answers[node];
    view.answer = answer ? Result<Membership>{read_membership(*answer)}
                         : Result<Membership>{Unexpected{answer.error()}};
    views.push_back(std::move(view));
  }
  co_return views;
}

Task<Result<void>> wait(const Ground& ground, Millis total, OnWait on_wait, std::stop_token stop) {
  const TimePoint begin = ground.env.now();
  for (;;) {
    const auto waited = std::chrono::floor<Millis>(ground.env.now() - begin);
    if (on_wait) on_wait(std::min(waited, total), total);
    if (waited >= total) co_return Result<void>{};
    if (stop.stop_requested()) co_return Unexpected{Error{Errc::cancelled}};
    co_await ground.env.sleep_for(std::min<Duration>(kTick, total - waited));
  }
}

redis::SharedCall mark(const Ground& ground, const std::string& nonce) {
  return redis::share(
      {.script = &kMarkScript, .keys = {Keys::rejoining(ground.prefix)}, .args = {nonce}});
}

/// The nonce is also the name of the member.
redis::SharedCall join(const Ground& ground,
                       const NodeSet& set,
                       const std::string& nonce,
                       std::uint64_t high) {
  return redis::share({.script = &kJoinScript,
                       .keys = {Keys::membership(ground.prefix),
                                Keys::high_of(ground.prefix, set),
                                Keys::rejoining(ground.prefix)},
                       .args = {nonce, set.text() + ' ' + nonce, std::to_string(high)}});
}

Error not_joined() {
  return {Errc::unavailable,
          "it lost its data again, or somebody else let it join, or it is the same node as another",
          "look at the node, and try again"};
}

/// Everybody answered, and what they are allows a new set.
Result<void> may_found(const Views& views, Founding::Anew anew) {
  Error error{Errc::invalid_argument,
              "some nodes belong to a set already",
              "let single nodes join with 'holdfast redlock rejoin', or found the set anew with "
              "--anew, which ends every lease of it"};
  for (const NodeView& view : views) {
    if (!*view.answer) {
      return Unexpected{Error{Errc::unavailable,
                              view.name + " does not answer: " + view.answer->error().message,
                              "all nodes must be there to found a set"}};
    }
    if (!(**view.answer).set) continue;
    error.nodes.push_back({.node = view.name, .message = "belongs to " + (**view.answer).set->id});
  }
  if (anew == Founding::Anew::yes || error.nodes.empty()) return {};
  return Unexpected{std::move(error)};
}

NodeSet next_set(const Views& views, const Founding& founding, std::string id) {
  NodeSet set{
      .id = std::move(id), .nodes = views.size(), .epoch = 1, .longest_ttl = founding.longest_ttl};
  for (const NodeView& view : views) {
    if ((**view.answer).set) set.epoch = std::max(set.epoch, (**view.answer).set->epoch + 1);
  }
  return set;
}

Millis longest_of(const Views& views) {
  Millis longest{0};
  for (const NodeView& view : views) {
    if ((**view.answer).set) longest = std::max(longest, (**view.answer).set->longest_ttl);
  }
  return longest;
}

/// The node leaves whatever set it is of, and is marked. The highest grant it had given.
Task<Result<std::uint64_t>> prepare(const Ground& ground,
                                    std::size_t node,
                                    const Membership& membership,
                                    std::string nonce) {
  redis::SharedCall call = mark(ground, nonce);
  if (membership.set) {
    call = redis::share({.script = &kWithdrawScript,
                         .keys = {Keys::membership(ground.prefix),
                                  Keys::high_of(ground.prefix, *membership.set),
                                  Keys::rejoining(ground.prefix)},
                         .args = {nonce}});
  }
  const auto reply = co_await ask(ground, node, call);
  if (!reply) co_return Unexpected{at_node(ground, node, reply.error())};
  co_return parse_decimal<std::uint64_t>(reply->text).value_or(0);
}

/// What `needed` nodes other than `node` have counted to at most.
Task<Result<std::uint64_t>> highest_of_others(const Ground& ground,
                                              std::size_t node,
                                              const NodeSet& set,
                                              std::size_t needed) {
  const redis::SharedCall call = redis::share(
      {.script = &kHighScript, .keys = {Keys::high_of(ground.prefix, set)}, .args = {}});
  std::uint64_t highest = 0;
  std::size_t counted = 0;
  for (std::size_t other = 0; other < ground.nodes.size() && counted < needed; ++other) {
    if (other == node) continue;
    const auto reply = co_await ask(ground, other, call);
    const auto high = reply ? parse_decimal<std::uint64_t>(reply->text) : std::nullopt;
    if (!high) continue;
    highest = std::max(highest, *high);
    ++counted;
  }
  if (counted >= needed) co_return highest;
  co_return Unexpected{Error{Errc::unavailable,
                             "only " + std::to_string(counted) + " other nodes tell their counters",
                             "bring them back first; " + std::to_string(needed) + " are needed"}};
}

/// The set that the others say the node was of.
Result<NodeSet> set_to_rejoin(const Views& views, std::size_t node) {
  const auto& own = *views[node].answer;
  if (!own) return Unexpected{own.error()};
  auto agreed = agreed_set(views);
  if (!*agreed) return Unexpected{std::move(*agreed).error()};
  if (own->set && *own->set == **agreed) {
    return Unexpected{Error{Errc::invalid_argument,
                            views[node].name + " has not lost its data: it is of the set",
                            "there is nothing to do"}};
  }
  if (!own->set) return *std::move(*agreed);
  return Unexpected{Error{Errc::invalid_argument,
                          views[node].name + " belongs to another set, " + own->set->id,
                          "check the URL; empty the node if it is to join this one"}};
}

}  // namespace

Millis quarantine(Millis longest_ttl) {
  const Duration drift = core::drift_allowance(longest_ttl);
  return longest_ttl + std::min(longest_ttl, kLongestAttempt) + std::chrono::ceil<Millis>(drift);
}

std::uint64_t first_count(std::uint64_t epoch) { return (epoch - 1) << kEpochBits; }

Task<Result<NodeSet>> found_set(Ground ground,
                                Founding founding,
                                OnWait on_wait,
                                std::stop_token stop) {
  const Views views = co_await look(ground);
  if (auto may = may_found(views, founding.anew); !may) co_return Unexpected{may.error()};
  const NodeSet set = next_set(views, founding, ground.env.fresh_owner().fingerprint());
  std::uint64_t high = first_count(set.epoch);
  std::vector<std::string> nonces;
  for (std::size_t node = 0; node < views.size(); ++node) {
    nonces.push_back(ground.env.fresh_owner().fingerprint());
    auto prepared = co_await prepare(ground, node, **views[node].answer, nonces.back());
    if (!prepared) co_return Unexpected{std::move(prepared).error()};
    high = std::max(high, *prepared);
  }
  if (const Millis longest = longest_of(views); longest > 0ms) {
    auto waited = co_await wait(ground, quarantine(longest), on_wait, stop);
    if (!waited) co_return Unexpected{std::move(waited).error()};
  }
  for (std::size_t node = 0; node < views.size(); ++node) {
    const redis::SharedCall call = join(ground, set, nonces[node], high);
    const auto reply = co_await ask(ground, node, call);
    if (!reply) co_return Unexpected{at_node(ground, node, reply.error())};
    if (reply->integer != 1) co_return Unexpected{at_node(ground, node, not_joined())};
  }
  co_return set;
}

Task<Result<NodeSet>> rejoin_set(Ground ground,
                                 std::size_t node,
                                 OnWait on_wait,
                                 std::stop_token stop) {
  const Views views = co_await look(ground);
  auto set = set_to_rejoin(views, node);
  if (!set) co_return Unexpected{at_node(ground, node, std::move(set).error())};
  const std::size_t needed = majority(set->nodes);
  auto early = co_await highest_of_others(ground, node, *set, needed);
  if (!early) co_return Unexpected{std::move(early).error()};
  const std::string nonce = ground.env.fresh_owner().fingerprint();
  const redis::SharedCall marking = mark(ground, nonce);
  const auto marked = co_await ask(ground, node, marking);
  if (!marked) co_return Unexpected{at_node(ground, node, marked.error())};
  auto waited = co_await wait(ground, quarantine(set->longest_ttl), on_wait, stop);
  if (!waited) co_return Unexpected{std::move(waited).error()};
  // Only now: an attempt that counted on this node may have ended just before.
  auto high = co_await highest_of_others(ground, node, *set, needed);
  if (!high) co_return Unexpected{std::move(high).error()};
  const redis::SharedCall joining = join(ground, *set, nonce, *high);
  const auto joined = co_await ask(ground, node, joining);
  if (!joined) co_return Unexpected{at_node(ground, node, joined.error())};
  if (joined->integer != 1) co_return Unexpected{at_node(ground, node, not_joined())};
  co_return set;
}

}  // namespace holdfast::redlock
