#include "engines/etcd/etcd_desk.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/alarm.h"
#include "core/holder_note.h"
#include "core/validity.h"
#include "engines/etcd/contenders_ear.h"
#include "engines/etcd/etcd_calls.h"
#include "engines/etcd/etcd_parts.h"

namespace holdfast::etcd {
namespace {

constexpr std::int64_t kPage = 1000;

// A transaction has at most 128 operations, and to break a lease takes two.
constexpr std::size_t kReadMax = 128;
constexpr std::size_t kBreakMax = 64;

constexpr Seconds kRecordKept{std::chrono::hours{24 * 30}};

/// Of a call that changes nothing: whether it ran makes no difference.
template <class T>
Result<T> looked(Result<T> answer) {
  if (!answer && answer.error().code == Errc::unknown_outcome) {
    answer.error().code = Errc::unavailable;
  }
  return answer;
}

/// The owner's contender. Empty: it has none here.
std::optional<KeyValue> find_owner(const std::vector<KeyValue>& entries,
                                   const Keys& keys,
                                   const std::string& owner_fp) {
  for (const KeyValue& entry : entries) {
    const auto key = keys.read(entry.key);
    if (key && key->owner_fp == owner_fp) return entry;
  }
  return std::nullopt;
}

Error not_held(const LockName& name) {
  return {Errc::lost, "that owner does not hold the lock " + name.text()};
}

}  // namespace

EtcdDesk::EtcdDesk(Env& env, std::shared_ptr<EtcdPort> port, Settings settings)
    : env_{env},
      parts_{std::make_shared<Parts>(Parts{.env = env,
                                           .port = std::move(port),
                                           .keys = Keys{settings.prefix},
                                           .settings = settings})} {}

Task<Result<TxnAnswer>> EtcdDesk::look(Txn txn, TimePoint answer_by) {
  const SharedTxn shared = share(std::move(txn));
  auto answer = co_await parts_->port->committed(shared, answer_by);
  co_return looked(std::move(answer));
}

Task<Result<Lineup>> EtcdDesk::look_at(LockName name, TimePoint answer_by) {
  Txn txn{
      .then = {Range{.keys = parts_->keys.contenders(name), .order = Range::Order::oldest_first}}};
  const auto answer = co_await look(std::move(txn), answer_by);
  if (!answer) co_return Unexpected{answer.error()};
  co_return line_up(name, answer->answers.at(0).found, parts_->keys);
}

/// Asking for what is left of many leases, all at once.
struct EtcdDesk::Survey {
  explicit Survey(Env& env) : complete{env} {}

  std::map<LeaseId, Millis> left;
  std::size_t under_way{0};
  std::optional<Error> failure{};
  Alarm complete;
};

Task<Result<void>> EtcdDesk::learn_ttls(std::vector<Lineup>& lineups, TimePoint answer_by) {
  const auto survey = std::make_shared<Survey>(env_);
  for (const Lineup& lineup : lineups) {
    for (const auto& entry : lineup.holders) survey->left.try_emplace(entry.lease);
    for (const auto& entry : lineup.waiters) survey->left.try_emplace(entry.lease);
  }
  survey->left.erase(LeaseId{});
  for (const auto& [lease, unknown] : survey->left) {
    ++survey->under_way;
    auto on_answer = [survey, asked = lease](Result<LeaseAnswer> answer) {
      if (answer) survey->left[asked] = answer->ttl;
      if (!answer) survey->failure = looked(std::move(answer)).error();
      if (--survey->under_way == 0) survey->complete.ring();
    };
    parts_->port->look_up(lease, answer_by, std::move(on_answer));
  }
  while (survey->under_way > 0) co_await survey->complete.wait_until(TimePoint::max());
  if (survey->failure) co_return Unexpected{*survey->failure};
  const auto note = [&](std::vector<Contender>& shown, const std::vector<KeyValue>& entries) {
    for (std::size_t i = 0; i < shown.size(); ++i) shown[i].ttl = survey->left[entries[i].lease];
  };
  for (Lineup& lineup : lineups) {
    note(lineup.info.holders, lineup.holders);
    note(lineup.info.waiters, lineup.waiters);
  }
  co_return Result<void>{};
}

Task<Result<LockInfo>> EtcdDesk::inspect(LockName name, TimePoint answer_by) {
  const auto self = shared_from_this();
  auto lineup = co_await look_at(std::move(name), answer_by);
  if (!lineup) co_return Unexpected{lineup.error()};
  std::vector<Lineup> one;
  one.push_back(*std::move(lineup));
  const auto learnt = co_await learn_ttls(one, answer_by);
  if (!learnt) co_return Unexpected{learnt.error()};
  co_return std::move(one.front().info);
}

Task<Result<std::vector<KeyValue>>> EtcdDesk::contenders(std::string prefix, TimePoint answer_by) {
  std::vector<KeyValue> found;
  const auto is_none = [&](const KeyValue& entry) {
    const auto key = parts_->keys.read(entry.key);
    if (!key || !key->name.text().starts_with(prefix)) return true;
    // Other keys may look like contenders, but are not bound to the lease they name.
    return key->owner_fp.empty() && key->lease != entry.lease;
  };
  KeyRange rest = parts_->keys.locks(prefix);
  for (;;) {
    // Among them may be anything, of any size.
    Txn txn{.then = {Range{.keys = rest, .part = Range::Part::keys_only, .limit = kPage}}};
    auto answer = co_await look(std::move(txn), answer_by);
    if (!answer) co_return Unexpected{answer.error()};
    std::vector<KeyValue>& page = answer->answers.at(0).found;
    if (page.empty()) co_return found;
    rest.key = page.back().key + '\0';
    const bool last = std::ssize(page) < kPage;
    std::erase_if(page, is_none);
    const auto learnt = co_await learn_values(page, answer_by);
    if (!learnt) co_return Unexpected{learnt.error()};
    std::ranges::move(page, std::back_inserter(found));
    if (last) co_return found;
  }
}

Task<Result<void>> EtcdDesk::learn_values(std::vector<KeyValue>& entries, TimePoint answer_by) {
  for (std::size_t at = 0; at < entries.size(); at += kReadMax) {
    const std::size_t end = std::min(at + kReadMax, entries.size());
    Txn txn;
    for (std::size_t i = at; i < end; ++i) {
      txn.then.emplace_back(Range{.keys = {.key = entries[i].key}});
    }
    const auto answer = co_await look(std::move(txn), answer_by);
    if (!answer) co_return Unexpected{answer.error()};
    for (std::size_t i = at; i < end; ++i) {
      const auto& found = answer->answers.at(i - at).found;
      // Gone by now.
      if (found.empty()) entries[i].key.clear();
      if (!found.empty()) entries[i].value = found.front().value;
    }
  }
  std::erase_if(entries, [](const KeyValue& entry) { return entry.key.empty(); });
  co_return Result<void>{};
}

Task<Result<std::vector<LockInfo>>> EtcdDesk::list(std::string prefix, TimePoint answer_by) {
  const auto self = shared_from_this();
  auto found = co_await contenders(prefix, answer_by);
  if (!found) co_return Unexpected{found.error()};
  std::map<LockName, std::vector<KeyValue>> locks;
  for (KeyValue& entry : *found) {
    locks[parts_->keys.read(entry.key)->name].push_back(std::move(entry));
  }
  std::vector<Lineup> lineups;
  for (auto& [name, entries] : locks) {
    std::ranges::sort(entries, {}, &KeyValue::created);
    lineups.push_back(line_up(name, entries, parts_->keys));
  }
  const auto learnt = co_await learn_ttls(lineups, answer_by);
  if (!learnt) co_return Unexpected{learnt.error()};
  std::vector<LockInfo> infos;
  for (Lineup& lineup : lineups) infos.push_back(std::move(lineup.info));
  co_return infos;
}

Task<Result<BreakReport>> EtcdDesk::break_lock(LockName name,
                                               std::string why,
                                               TimePoint answer_by) {
  const auto self = shared_from_this();
  std::optional<LeaseId> record;
  for (;;) {
    auto lineup = co_await look_at(name, answer_by);
    if (!lineup) co_return Unexpected{lineup.error()};
    if (lineup->holders.empty()) {
      co_return Unexpected{Error{Errc::not_found, "nobody holds the lock " + name.text()}};
    }
    if (!record) {
      record = fresh_lease(env_.draw());
      const auto made = co_await granted(*parts_->port, *record, kRecordKept, answer_by);
      if (!made) co_return Unexpected{looked(made).error()};
    }
    std::vector<Lineup> one;
    one.push_back(*std::move(lineup));
    const auto learnt = co_await learn_ttls(one, answer_by);
    if (!learnt) co_return Unexpected{learnt.error()};
    const auto broken = co_await try_break(one.front(), *record, why, answer_by);
    if (!broken) co_return Unexpected{broken.error()};
    if (*broken) co_return BreakReport{.holders = std::move(one.front().info.holders)};
  }
}

/// False: somebody came or went meanwhile, and not all were broken.
Task<Result<bool>> EtcdDesk::try_break(Lineup lineup,
                                       LeaseId record,
                                       std::string why,
                                       TimePoint answer_by) {
  const LockName name{lineup.info.name};
  const std::string note = core::encode_note(core::make_note(why, {}));
  for (std::size_t at = 0; at < lineup.holders.size(); at += kBreakMax) {
    Txn txn;
    for (std::size_t i = at; i < std::min(at + kBreakMax, lineup.holders.size()); ++i) {
      const KeyValue& entry = lineup.holders[i];
      const std::string mark = parts_->keys.broken(name, lineup.info.holders[i].owner_fp);
      txn.when.push_back({.key = entry.key, .number = entry.created});
      txn.then.emplace_back(Erase{.keys = {.key = entry.key}});
      txn.then.emplace_back(Put{.key = mark, .value = note, .lease = record});
    }
    const SharedTxn shared = share(std::move(txn));
    const auto answer = co_await parts_->port->committed(shared, answer_by);
    if (!answer) co_return Unexpected{answer.error()};
    if (!answer->held) co_return false;
  }
  co_return true;
}

Task<Result<Duration>> EtcdDesk::extend(LockName name,
                                        Owner owner,
                                        Millis ttl,
                                        TimePoint answer_by) {
  const auto self = shared_from_this();
  const auto lineup = co_await look_at(name, answer_by);
  if (!lineup) co_return Unexpected{lineup.error()};
  const auto entry = find_owner(lineup->holders, parts_->keys, owner.fingerprint());
  if (!entry) co_return Unexpected{not_held(name)};
  TimePoint sent_at = env_.now();
  const auto kept = co_await kept_alive(*parts_->port, entry->lease, answer_by);
  if (!kept) co_return Unexpected{kept.error()};
  if (kept->ttl <= Seconds{0}) co_return Unexpected{not_held(name)};
  Millis in_force = kept->ttl;
  const bool own_lease = read_entrant(entry->value).kind == LeaseKind::detached;
  if (own_lease && in_force < ttl) {
    sent_at = env_.now();
    const auto moved = co_await move_to_longer(*entry, whole_seconds(ttl), answer_by);
    if (!moved) co_return Unexpected{moved.error()};
    if (*moved == Millis{0}) co_return Unexpected{not_held(name)};
    in_force = *moved;
  }
  co_return core::deadline_of(sent_at, in_force) - sent_at;
}

/// A lease cannot be lengthened, but a key can be given another. Zero: the key is gone.
Task<Result<Millis>> EtcdDesk::move_to_longer(KeyValue entry, Seconds ttl, TimePoint answer_by) {
  const LeaseId longer = fresh_lease(env_.draw());
  const auto made = co_await granted(*parts_->port, longer, ttl, answer_by);
  if (!made) co_return Unexpected{made.error()};
  if (made->ttl < ttl) co_return Unexpected{Error{Errc::unavailable, "no lease was granted"}};
  const SharedTxn txn =
      share({.when = {{.key = entry.key, .number = entry.created}},
             .then = {Put{.key = entry.key, .value = entry.value, .lease = longer}}});
  const auto moved = co_await parts_->port->committed(txn, answer_by);
  if (!moved) co_return Unexpected{moved.error()};
  // Nothing needs the other one any more: neither the new one of a key that is gone.
  const LeaseId idle = moved->held ? entry.lease : longer;
  parts_->port->revoke(idle, answer_by, [](const Result<LeaseAnswer>&) {});
  co_return moved->held ? Millis{made->ttl} : Millis{0};
}

Task<Result<ReleaseOutcome>> EtcdDesk::release(LockName name, Owner owner, TimePoint answer_by) {
  const auto self = shared_from_this();
  const std::string owner_fp = owner.fingerprint();
  Result<Lineup> lineup = co_await look_at(name, answer_by);
  if (!lineup) co_return Unexpected{lineup.error()};
  auto entry = find_owner(lineup->holders, parts_->keys, owner_fp);
  if (!entry) entry = find_owner(lineup->waiters, parts_->keys, owner_fp);
  if (!entry) co_return ReleaseOutcome::already_lost;
  const Place place{.name = name,
                    .owner_fp = owner_fp,
                    .lease = entry->lease,
                    .key = entry->key,
                    .created = entry->created};
  const auto outcome = co_await parts_->leave(place, TimePoint::min(), answer_by);
  // A lease of its own has nothing else to keep.
  if (read_entrant(entry->value).kind == LeaseKind::detached) {
    parts_->port->revoke(entry->lease, answer_by, [](const Result<LeaseAnswer>&) {});
  }
  co_return outcome;
}

std::unique_ptr<core::LockEar> EtcdDesk::listen(LockName name, std::function<void()> on_change) {
  return std::make_unique<ContendersEar>(
      parts_->port, parts_->keys.contenders(name), std::move(on_change));
}

}  // namespace holdfast::etcd
