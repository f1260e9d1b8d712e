#include "engines/redis/redis_desk.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/alarm.h"
#include "core/claim_text.h"
#include "core/holder_note.h"
#include "core/validity.h"
#include "engines/redis/redis_desk_scripts.h"
#include "engines/redis/redis_reply.h"

namespace holdfast::redis {
namespace {

// A script holds up the whole server: so many locks at a time.
constexpr std::size_t kInspectMax = 100;

// Of an announcement, which nobody waits for.
constexpr Millis kAnnouncement{5'000};

/// As a SCAN pattern that stands for itself.
std::string literally(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    if (std::string_view{"*?[]\\"}.find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

Contender waiter_of(const std::string& owner, Millis left, std::string_view note, Mode mode) {
  Contender waiter{};
  if (const auto known = Owner::parse(owner)) waiter.owner_fp = known->fingerprint();
  core::describe(waiter, core::decode_note(note));
  waiter.ttl = left;
  waiter.mode = mode;
  return waiter;
}

/// In the order of their grants.
std::vector<Contender> holders_of(const std::vector<Reply>& items, Mode mode) {
  std::vector<Contender> holders;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    holders.push_back(holder_of(items[i].text, Millis{items[i + 1].integer}));
    holders.back().mode = mode;
  }
  std::ranges::sort(holders, {}, &Contender::token);
  return holders;
}

LockInfo info_of(const LockName& name, const Reply& answer) {
  LockInfo info{};
  info.name = name.text();
  const auto& items = answer.items;
  if (items.size() != 4) return info;
  core::Claim claim = core::read_claim(items[0].text);
  info.delay = Millis{items[1].integer};
  info.holders = holders_of(items[2].items, claim.mode);
  const std::vector<Reply>& waiting = items[3].items;
  for (std::size_t i = 0; i + 3 < waiting.size(); i += 4) {
    const core::Claim wanted = core::read_claim(waiting[i + 2].text);
    if (info.holders.empty() && info.waiters.empty()) claim.mode = wanted.mode;
    claim.permits = std::max(claim.permits, wanted.permits);
    info.waiters.push_back(waiter_of(
        waiting[i].text, Millis{waiting[i + 1].integer}, waiting[i + 3].text, wanted.mode));
  }
  info.mode = claim.mode;
  info.permits = claim.permits;
  return info;
}

Result<Reply> checked(Result<Reply> reply) {
  if (reply && reply->kind == Reply::Kind::error) return Unexpected{error_of(reply->text)};
  return reply;
}

/// Of a call that changes nothing: whether it ran makes no difference.
Result<Reply> looked(Result<Reply> reply) {
  if (!reply && reply.error().code == Errc::unknown_outcome) {
    reply.error().code = Errc::unavailable;
  }
  return checked(std::move(reply));
}

}  // namespace

RedisDesk::RedisDesk(Env& env,
                     std::shared_ptr<RedisPort> port,
                     std::shared_ptr<RedisEngine> engine,
                     Keys keys)
    : env_{env},
      port_{std::move(port)},
      engine_{std::move(engine)},
      keys_{std::move(keys)},
      bell_{std::make_shared<ChangeBell>(port_, keys_)} {}

Task<Result<LockInfo>> RedisDesk::inspect(LockName name, TimePoint answer_by) {
  const auto self = shared_from_this();
  if (auto good = keys_.check(name.text()); !good) co_return Unexpected{std::move(good).error()};
  std::vector<LockName> one{name};
  auto found = co_await look_at(std::move(one), answer_by);
  if (!found) co_return Unexpected{std::move(found).error()};
  co_return std::move(found->front());
}

/// Looking at many locks, by several scripts at once.
struct RedisDesk::Survey {
  Survey(Env& env, std::vector<LockName> names_in)
      : names{std::move(names_in)}, infos(names.size()), complete{env} {}

  void take_in(const std::vector<std::size_t>& which, const Result<Reply>& reply) {
    if (!reply) {
      failure = reply.error();
    } else if (reply->items.size() != which.size()) {
      failure = Error{Errc::corrupt, "the server's answer to inspect makes no sense"};
    } else {
      for (std::size_t i = 0; i < which.size(); ++i) {
        infos[which[i]] = info_of(names[which[i]], reply->items[i]);
      }
    }
    if (--under_way == 0) complete.ring();
  }

  std::vector<LockName> names;
  std::vector<LockInfo> infos;
  std::size_t under_way{0};
  std::optional<Error> failure{};
  Alarm complete;
};

Task<Result<std::vector<LockInfo>>> RedisDesk::look_at(std::vector<LockName> names,
                                                       TimePoint answer_by) {
  const auto survey = std::make_shared<Survey>(env_, std::move(names));
  std::vector<std::uint16_t> slots;
  for (const LockName& name : survey->names) slots.push_back(keys_.slot(name));
  for (auto& batch : slot_batches(slots, kInspectMax)) {
    ScriptCall call{.script = &kInspectScript, .keys = {}, .args = {}};
    for (const std::size_t at : batch) {
      const LockName& name = survey->names[at];
      call.keys.insert(
          call.keys.end(),
          {keys_.lock(name), keys_.queue(name), keys_.waiters(name), keys_.holders(name)});
    }
    ++survey->under_way;
    auto on_answer = [survey, batch = std::move(batch)](Result<Reply> reply) {
      survey->take_in(batch, looked(std::move(reply)));
    };
    port_->send(share(std::move(call)), answer_by, std::move(on_answer));
  }
  if (survey->under_way > 0) co_await survey->complete.wait_until(TimePoint::max());
  if (survey->failure) co_return Unexpected{*survey->failure};
  co_return std::move(survey->infos);
}

Task<Result<std::set<LockName>>> RedisDesk::names_at(std::vector<std::string> there,
                                                     std::string prefix,
                                                     TimePoint answer_by) {
  const std::string pattern = "*" + literally(keys_.prefix() + prefix) + "*";
  std::set<LockName> found;
  std::string cursor = "0";
  do {
    const SharedCall call =
        share({.script = &kScanScript, .keys = there, .args = {cursor, pattern}});
    auto answer = co_await port_->eval(call, answer_by);
    auto reply = looked(std::move(answer));
    if (!reply) co_return Unexpected{std::move(reply).error()};
    if (reply->items.size() != 2) {
      co_return Unexpected{Error{Errc::corrupt, "the server's answer to SCAN makes no sense"}};
    }
    cursor = reply->items[0].text;
    for (const Reply& key : reply->items[1].items) {
      auto name = keys_.lock_of(key.text);
      if (name && name->text().starts_with(prefix)) found.insert(*std::move(name));
    }
  } while (cursor != "0");
  co_return found;
}

Task<Result<std::vector<LockName>>> RedisDesk::names(std::string prefix, TimePoint answer_by) {
  std::vector<std::vector<std::string>> servers;
  for (std::string& key : port_->key_of_each_server()) servers.push_back({std::move(key)});
  if (servers.empty()) servers.emplace_back();
  std::set<LockName> found;
  for (const std::vector<std::string>& there : servers) {
    auto names = co_await names_at(there, prefix, answer_by);
    if (!names) co_return Unexpected{std::move(names).error()};
    found.merge(*names);
  }
  co_return std::vector<LockName>(found.begin(), found.end());
}

Task<Result<std::vector<LockInfo>>> RedisDesk::list(std::string prefix, TimePoint answer_by) {
  const auto self = shared_from_this();
  auto found = co_await names(std::move(prefix), answer_by);
  if (!found) co_return Unexpected{std::move(found).error()};
  auto infos = co_await look_at(*std::move(found), answer_by);
  if (!infos) co_return Unexpected{std::move(infos).error()};
  std::erase_if(*infos, [](const LockInfo& info) {
    return info.holders.empty() && info.waiters.empty() && info.delay == Millis{0};
  });
  co_return infos;
}

Task<Result<BreakReport>> RedisDesk::break_lock(LockName name,
                                                std::string why,
                                                TimePoint answer_by) {
  const auto self = shared_from_this();
  if (auto good = keys_.check(name.text()); !good) co_return Unexpected{std::move(good).error()};
  const core::HolderNote note = core::make_note(why, {});
  const SharedCall call = share({.script = &kBreakScript,
                                 .keys = {keys_.lock(name),
                                          keys_.counter(name),
                                          keys_.queue(name),
                                          keys_.waiters(name),
                                          keys_.holders(name),
                                          keys_.broken(name),
                                          keys_.audit(name)},
                                 .args = {core::encode_note(note), keys_.breaks()}});
  auto answer = co_await port_->eval(call, answer_by);
  auto reply = checked(std::move(answer));
  if (!reply) co_return Unexpected{std::move(reply).error()};
  if (reply->items.size() != 2) {
    co_return Unexpected{Error{Errc::not_found, "nobody holds the lock " + name.text()}};
  }
  BreakReport report;
  report.holders = holders_of(reply->items[1].items, core::read_claim(reply->items[0].text).mode);
  co_return report;
}

Task<Result<Duration>> RedisDesk::extend(LockName name,
                                         Owner owner,
                                         Millis ttl,
                                         TimePoint answer_by) {
  const auto self = shared_from_this();
  if (auto good = keys_.check(name.text()); !good) co_return Unexpected{std::move(good).error()};
  const TimePoint sent_at = env_.now();
  const SharedCall call = share({.script = &kProlongScript,
                                 .keys = {keys_.lock(name), keys_.holders(name)},
                                 .args = {owner.to_string(), std::to_string(ttl.count())}});
  auto answer = co_await port_->eval(call, answer_by);
  auto reply = checked(std::move(answer));
  if (!reply) co_return Unexpected{std::move(reply).error()};
  if (reply->integer <= 0) {
    co_return Unexpected{Error{Errc::lost, "that owner does not hold the lock " + name.text()}};
  }
  co_return core::deadline_of(sent_at, Millis{reply->integer}) - sent_at;
}

Task<Result<ReleaseOutcome>> RedisDesk::release(LockName name, Owner owner, TimePoint answer_by) {
  const auto self = shared_from_this();
  if (auto good = keys_.check(name.text()); !good) co_return Unexpected{std::move(good).error()};
  co_return co_await engine_->release(std::move(name), owner, answer_by);
}

std::unique_ptr<core::LockEar> RedisDesk::listen(LockName name, std::function<void()> on_change) {
  return bell_->listen(name, std::move(on_change));
}

void RedisDesk::announce(LockName name) { bell_->ring(name, env_.now() + kAnnouncement); }

}  // namespace holdfast::redis
