#include "engines/redlock/redlock_desk.h"

#include <algorithm>
#include <utility>

#include "base/alarm.h"
#include "core/holder_note.h"
#include "core/validity.h"
#include "engines/redis/redis_reply.h"
#include "engines/redlock/desk_scripts.h"
#include "engines/redlock/sight.h"

namespace holdfast::redlock {
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

/// What each node that answered shows of lock number `index`.
std::vector<Sight> sights_of(const Answers& answers, std::size_t index) {
  std::vector<Sight> sights;
  for (const auto& answer : answers) {
    if (!answer || !*answer || (*answer)->items.size() <= index) continue;
    sights.push_back(read_sight((*answer)->items[index]));
  }
  return sights;
}

/// What each node that has the lease gives it.
std::vector<Millis> times_left(const Answers& answers) {
  std::vector<Millis> left;
  for (const auto& answer : answers) {
    if (answer && *answer && (*answer)->integer > 0) left.emplace_back((*answer)->integer);
  }
  return left;
}

}  // namespace

/// A walk through the keys of all nodes, shared by the tasks that take it.
struct RedlockDesk::Scan {
  Scan(Env& env, std::string pattern_in, TimePoint by, std::size_t nodes)
      : pattern{std::move(pattern_in)}, answer_by{by}, answers(nodes), changed{env} {}

  std::string pattern;
  TimePoint answer_by;
  std::set<std::string> keys{};
  /// How it ended at each node.
  Answers answers;
  Alarm changed;
};

RedlockDesk::RedlockDesk(Env& env,
                         Nodes nodes,
                         std::shared_ptr<RedlockEngine> engine,
                         Settings settings)
    : env_{env},
      nodes_{std::move(nodes)},
      engine_{std::move(engine)},
      settings_{std::move(settings)},
      keys_{settings_.prefix, settings_.set},
      bell_{std::make_shared<ChangeBell>(nodes_, keys_.changes())} {}

Task<Result<LockInfo>> RedlockDesk::inspect(LockName name, TimePoint answer_by) {
  const auto self = shared_from_this();
  std::vector<LockName> one{name};
  auto found = co_await look_at(std::move(one), answer_by);
  if (!found) co_return Unexpected{std::move(found).error()};
  co_return std::move(found->front());
}

Task<Result<std::vector<LockInfo>>> RedlockDesk::look_at(std::vector<LockName> names,
                                                         TimePoint answer_by) {
  std::vector<LockInfo> infos;
  for (std::size_t begin = 0; begin < names.size(); begin += kInspectMax) {
    const std::size_t end = std::min(begin + kInspectMax, names.size());
    redis::ScriptCall call{.script = &kInspectScript, .keys = {}, .args = {}};
    for (std::size_t i = begin; i < end; ++i) {
      call.keys.insert(call.keys.end(),
                       {keys_.lock(names[i]), keys_.counter(names[i]), keys_.waiters(names[i])});
    }
    redis::SharedCall shared = redis::share(std::move(call));
    Enough enough = &a_majority;
    const Answers answers =
        co_await ask_nodes(env_, nodes_, std::move(shared), answer_by, std::move(enough));
    if (!a_majority(answers)) {
      co_return Unexpected{too_few_answers(answers, settings_.names)};
    }
    for (std::size_t i = begin; i < end; ++i) {
      infos.push_back(merge_sights(names[i], sights_of(answers, i - begin), nodes_.size()));
    }
  }
  co_return infos;
}

Task<void> RedlockDesk::scan_node(std::shared_ptr<RedlockDesk> self,
                                  std::shared_ptr<Scan> scan,
                                  std::size_t node) {
  std::string cursor = "0";
  do {
    const redis::SharedCall call =
        redis::share({.script = &kScanScript, .keys = {}, .args = {cursor, scan->pattern}});
    auto reply = co_await self->nodes_[node]->eval(call, scan->answer_by);
    const bool good = reply && reply->items.size() == 2;
    if (good) cursor = reply->items[0].text;
    if (good) {
      for (const redis::Reply& key : reply->items[1].items) scan->keys.insert(key.text);
    }
    if (reply && !good) {
      const std::string what =
          reply->kind == redis::Reply::Kind::error ? reply->text : "a senseless answer to SCAN";
      reply = Unexpected{redis::error_of(what)};
    }
    if (!reply || cursor == "0") scan->answers[node] = std::move(reply);
  } while (!scan->answers[node]);
  scan->changed.ring();
}

Task<Result<std::vector<LockName>>> RedlockDesk::names(std::string prefix, TimePoint answer_by) {
  const std::string pattern = literally(keys_.prefix()) + "*";
  const auto scan = std::make_shared<Scan>(env_, pattern, answer_by, nodes_.size());
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    env_.spawn(scan_node(shared_from_this(), scan, node));
  }
  // A lock that is held is at one node at least of any majority.
  const auto ended = [&] {
    return std::ranges::all_of(scan->answers, [](const auto& one) { return one.has_value(); });
  };
  while (!a_majority(scan->answers) && !ended()) {
    co_await scan->changed.wait_until(TimePoint::max());
  }
  if (!a_majority(scan->answers)) {
    co_return Unexpected{too_few_answers(scan->answers, settings_.names)};
  }
  std::set<LockName> found;
  for (const std::string& key : scan->keys) {
    auto name = keys_.lock_of(key);
    if (name && name->text().starts_with(prefix)) found.insert(*std::move(name));
  }
  co_return std::vector<LockName>(found.begin(), found.end());
}

Task<Result<std::vector<LockInfo>>> RedlockDesk::list(std::string prefix, TimePoint answer_by) {
  const auto self = shared_from_this();
  auto found = co_await names(std::move(prefix), answer_by);
  if (!found) co_return Unexpected{std::move(found).error()};
  auto infos = co_await look_at(*std::move(found), answer_by);
  if (!infos) co_return Unexpected{std::move(infos).error()};
  std::erase_if(*infos,
                [](const LockInfo& info) { return info.holders.empty() && info.waiters.empty(); });
  co_return infos;
}

Task<Result<BreakReport>> RedlockDesk::break_lock(LockName name,
                                                  std::string why,
                                                  TimePoint answer_by) {
  const auto self = shared_from_this();
  const core::HolderNote note = core::make_note(why, {});
  redis::SharedCall call =
      redis::share({.script = &kBreakScript,
                    .keys = {keys_.lock(name), keys_.broken(name), keys_.audit(name)},
                    .args = {core::encode_note(note), keys_.channel(name)}});
  // It shows who holds the lock before it is taken away.
  auto before = co_await inspect(name, answer_by);
  if (!before) co_return Unexpected{std::move(before).error()};
  Enough enough = &a_majority;
  const Answers answers =
      co_await ask_nodes(env_, nodes_, std::move(call), answer_by, std::move(enough));
  if (!a_majority(answers)) co_return Unexpected{too_few_answers(answers, settings_.names)};
  if (before->holders.empty()) {
    co_return Unexpected{Error{Errc::not_found, "nobody holds the lock " + name.text()}};
  }
  BreakReport report;
  report.holders = std::move(before->holders);
  co_return report;
}

Task<Result<Duration>> RedlockDesk::extend(LockName name,
                                           Owner owner,
                                           Millis ttl,
                                           TimePoint answer_by) {
  const auto self = shared_from_this();
  if (ttl > settings_.set.longest_ttl) {
    co_return Unexpected{Error{Errc::invalid_argument,
                               "the TTL is longer than " +
                                   std::to_string(settings_.set.longest_ttl.count()) +
                                   " ms, the longest of this set of nodes"}};
  }
  const TimePoint sent_at = env_.now();
  redis::SharedCall call = redis::share({.script = &kProlongScript,
                                         .keys = {keys_.high(), keys_.lock(name)},
                                         .args = {owner.to_string(), std::to_string(ttl.count())}});
  const std::size_t needed = majority(nodes_.size());
  Enough enough = [needed](const Answers& so_far) {
    const std::size_t have = times_left(so_far).size();
    return have >= needed || good_answers(so_far) - have > so_far.size() - needed;
  };
  const Answers answers =
      co_await ask_nodes(env_, nodes_, std::move(call), answer_by, std::move(enough), Grace::none);
  std::vector<Millis> left = times_left(answers);
  if (left.size() >= needed) {
    std::ranges::sort(left, std::greater{});
    co_return core::deadline_of(sent_at, left[needed - 1]) - env_.now();
  }
  const std::size_t silent = nodes_.size() - good_answers(answers);
  if (left.size() + silent >= needed) {
    co_return Unexpected{too_few_answers(answers, settings_.names)};
  }
  co_return Unexpected{Error{Errc::lost, "that owner does not hold the lock " + name.text()}};
}

Task<Result<ReleaseOutcome>> RedlockDesk::release(LockName name, Owner owner, TimePoint answer_by) {
  const auto self = shared_from_this();
  const core::HeldLease lease{.name = name, .owner = owner, .token = Token{0}};
  co_return co_await engine_->release(lease, answer_by, answer_by);
}

std::unique_ptr<core::LockEar> RedlockDesk::listen(LockName name, std::function<void()> on_change) {
  return bell_->listen(name, std::move(on_change));
}

void RedlockDesk::announce(LockName name) { bell_->ring(name, env_.now() + kAnnouncement); }

}  // namespace holdfast::redlock
