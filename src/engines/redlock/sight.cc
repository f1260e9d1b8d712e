#include "engines/redlock/sight.h"

#include <algorithm>
#include <optional>

#include "base/decimal.h"
#include "core/holder_note.h"
#include "engines/redis/redis_reply.h"
#include "engines/redlock/node_set.h"

namespace holdfast::redlock {
namespace {

/// One owner, at the nodes where it has the lock.
struct Seen {
  std::size_t nodes{0};
  Contender contender{};
  std::vector<Millis> left{};
  std::map<Token, std::size_t> tokens{};
};

Token token_at(const Sight& sight, const Contender& holder) {
  const auto counter = parse_decimal<std::uint64_t>(sight.counter);
  return counter && *counter <= Token::kMax ? Token{*counter} : holder.token;
}

void add(Seen& seen, const Sight& sight) {
  const Contender holder = redis::holder_of(sight.value, sight.left);
  ++seen.nodes;
  seen.left.push_back(holder.ttl);
  ++seen.tokens[token_at(sight, holder)];
  // A node that was repaired does not know the note.
  if (seen.nodes == 1 || seen.contender.host.empty()) seen.contender = holder;
}

Contender contender_of(Seen seen, std::size_t nodes) {
  Contender contender = std::move(seen.contender);
  std::size_t most = 0;
  for (const auto& [token, count] : seen.tokens) {
    if (count <= most) continue;
    most = count;
    if (!contender.foreign) contender.token = token;
  }
  // As long as a majority remembers it.
  std::ranges::sort(seen.left, std::greater{});
  contender.ttl = seen.left[std::min(majority(nodes), seen.left.size()) - 1];
  return contender;
}

}  // namespace

Sight read_sight(const redis::Reply& item) {
  Sight sight;
  const auto& items = item.items;
  if (items.size() < 3) return sight;
  sight.value = items[0].text;
  sight.left = Millis{items[1].integer};
  sight.counter = items[2].text;
  for (std::size_t i = 3; i + 2 < items.size(); i += 3) {
    Contender waiter{};
    if (const auto owner = Owner::parse(items[i].text)) waiter.owner_fp = owner->fingerprint();
    core::describe(waiter, core::decode_note(items[i + 2].text));
    waiter.ttl = Millis{items[i + 1].integer};
    sight.waiters.emplace(items[i].text, std::move(waiter));
  }
  return sight;
}

LockInfo merge_sights(const LockName& name, const std::vector<Sight>& sights, std::size_t nodes) {
  LockInfo info{};
  info.name = name.text();
  std::map<std::string, Seen> owners;
  std::map<std::string, Contender> waiters;
  for (const Sight& sight : sights) {
    if (!sight.value.empty()) add(owners[sight.value.substr(0, sight.value.find(':'))], sight);
    waiters.insert(sight.waiters.begin(), sight.waiters.end());
  }
  const std::size_t unseen = nodes - sights.size();
  for (auto& [owner, seen] : owners) {
    if (seen.nodes + unseen < majority(nodes)) continue;
    info.holders.push_back(contender_of(std::move(seen), nodes));
  }
  for (auto& [owner, waiter] : waiters) info.waiters.push_back(std::move(waiter));
  std::ranges::stable_sort(info.waiters, {}, &Contender::since_ms);
  return info;
}

}  // namespace holdfast::redlock
