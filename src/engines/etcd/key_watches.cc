#include "engines/etcd/key_watches.h"

#include <algorithm>

#include "engines/etcd/etcd_parts.h"

namespace holdfast::etcd {
namespace {

// A transaction has so many operations at most.
constexpr std::size_t kLookMax = 128;
/// How long a look may take, and when it is repeated that was not answered.
constexpr Millis kLookPatience{5000};
constexpr Millis kBeforeLookingAgain{1000};

}  // namespace

KeyWatches::Listening::Listening(Listening&& other) noexcept
    : watches_{std::move(other.watches_)},
      range_{std::move(other.range_)},
      number_{std::exchange(other.number_, 0)} {}

KeyWatches::Listening& KeyWatches::Listening::operator=(Listening&& other) noexcept {
  if (this == &other) return *this;
  end();
  watches_ = std::move(other.watches_);
  range_ = std::move(other.range_);
  number_ = std::exchange(other.number_, 0);
  return *this;
}

void KeyWatches::Listening::end() noexcept {
  const std::uint64_t number = std::exchange(number_, 0);
  if (number == 0) return;
  if (const auto watches = watches_.lock()) watches->stop(range_, number);
}

KeyWatches::KeyWatches(Env& env, std::shared_ptr<EtcdPort> port, Millis look_again)
    : env_{env},
      port_{std::move(port)},
      look_again_{look_again},
      changed_{std::make_shared<Alarm>(env)} {}

KeyWatches::~KeyWatches() {
  for (const auto& [range, ear] : ears_) port_->unwatch(ear.watch);
  changed_->ring();
}

KeyWatches::Listening KeyWatches::listen(KeyRange keys,
                                         Revision since,
                                         Interest interest,
                                         Heard heard) {
  const Span range{keys.key, keys.end};
  auto [found, is_new] = ears_.try_emplace(range);
  Ear& ear = found->second;
  if (interest == Interest::others) ear.interest = interest;
  const auto callback = std::make_shared<Heard>(std::move(heard));
  ear.listeners.emplace(++last_number_, Listener{.since = since, .heard = callback});
  if (is_new) {
    // Who waits is told at once only by a watch from now on: a server catches up with what is past
    // ten times a second, and tells until then nothing new either.
    ear.begun = interest == Interest::others ? 0 : since;
    const Revision from = interest == Interest::others ? 0 : since + 1;
    Watch watch{.keys = std::move(keys), .from = from, .only = Watch::Only::erasures};
    ear.watch = port_->watch(std::move(watch), [weak = weak_from_this(), range](const auto& news) {
      if (const auto self = weak.lock()) self->hear(range, news);
    });
  } else if (ear.begun > since) {
    env_.spawn(look_at(shared_from_this(), {range}));
  } else if (ear.latest > since) {
    // It happened between the answer that this listener has and now, and was told already.
    env_.post([weak = std::weak_ptr{callback}] {
      if (const auto late = weak.lock()) (*late)({});
    });
  }
  if (interest == Interest::others && !std::exchange(looking_, true)) {
    look_at_ = env_.now() + look_again_;
    env_.spawn(keep_looking(weak_from_this(), changed_));
  }
  Listening listening;
  listening.watches_ = weak_from_this();
  listening.range_ = range;
  listening.number_ = last_number_;
  return listening;
}

void KeyWatches::stop(const Span& range, std::uint64_t number) {
  const auto found = ears_.find(range);
  if (found == ears_.end()) return;
  found->second.listeners.erase(number);
  if (!found->second.listeners.empty()) return;
  const WatchId watch = found->second.watch;
  ears_.erase(found);
  port_->unwatch(watch);
}

void KeyWatches::hear(const Span& range, const WatchNews& news) {
  switch (news.kind) {
    case WatchNews::Kind::watching:
      return begin(range, news.header.revision);
    case WatchNews::Kind::changes:
      for (const Change& change : news.changes) {
        if (change.kind != Change::Kind::erased) continue;
        pass_on(range, {.erased = &change.entry.key}, change.entry.modified);
      }
      return;
    case WatchNews::Kind::compacted:
      // It is looked at as soon as it is watched again.
      if (const auto found = ears_.find(range); found != ears_.end()) found->second.answered = true;
      return;
    case WatchNews::Kind::refused:
      // A refused watch tells nothing; those who wait for others look now and then.
      return;
  }
}

/// Whoever listens since before that has a gap to look into.
void KeyWatches::begin(const Span& range, Revision revision) {
  const auto found = ears_.find(range);
  if (found == ears_.end()) return;
  Ear& ear = found->second;
  const bool began_before = ear.begun != 0;
  if (!began_before) ear.begun = revision;
  const bool answered_before = std::exchange(ear.answered, true);
  // A server that is behind where the watch was to begin may only be slow, or may have been
  // restored: whoever looks is told.
  if (answered_before || revision < ear.begun) return go_on(range);
  if (began_before) return;
  const bool gap = std::ranges::any_of(
      ear.listeners, [revision](const auto& entry) { return entry.second.since < revision; });
  if (gap) env_.spawn(look_at(shared_from_this(), {range}));
}

void KeyWatches::go_on(const Span& range) {
  interrupted_.insert(range);
  if (!std::exchange(catching_up_, true)) env_.spawn(catch_up(shared_from_this()));
}

void KeyWatches::pass_on(const Span& range, const KeyNews& news, Revision when) {
  const auto found = ears_.find(range);
  if (found == ears_.end()) return;
  Ear& ear = found->second;
  if (news.erased != nullptr) ear.latest = std::max(ear.latest, when);
  const bool says_what = news.erased != nullptr || news.there != nullptr;
  std::vector<std::weak_ptr<Heard>> told;
  for (const auto& [number, listener] : ear.listeners) {
    if (!says_what || when > listener.since) told.push_back(listener.heard);
  }
  // Whoever is told may stop listening, or begin to.
  for (const auto& weak : told) {
    if (const auto heard = weak.lock()) (*heard)(news);
  }
}

Task<void> KeyWatches::keep_looking(std::weak_ptr<KeyWatches> weak,
                                    std::shared_ptr<Alarm> changed) {
  for (;;) {
    TimePoint next{};
    {
      const auto self = weak.lock();
      if (!self) co_return;
      next = self->look_at_others();
      if (!self->looking_) co_return;
    }
    co_await changed->wait_until(next);
  }
}

/// When to look again.
TimePoint KeyWatches::look_at_others() {
  std::vector<Span> others;
  for (const auto& [range, ear] : ears_) {
    if (ear.interest == Interest::others) others.push_back(range);
  }
  looking_ = !others.empty();
  if (env_.now() < look_at_) return look_at_;
  look_at_ = env_.now() + look_again_;
  for (std::size_t at = 0; at < others.size(); at += kLookMax) {
    const auto begin = others.begin() + static_cast<std::ptrdiff_t>(at);
    const auto count = std::min(kLookMax, others.size() - at);
    std::vector<Span> some(begin, begin + static_cast<std::ptrdiff_t>(count));
    env_.spawn(look_at(shared_from_this(), std::move(some)));
  }
  return look_at_;
}

Task<void> KeyWatches::look_at(std::shared_ptr<KeyWatches> self, std::vector<Span> ranges) {
  static_cast<void>(co_await self->look(std::move(ranges)));
}

/// Nobody looks now and then at own keys, so that this is repeated until it is answered.
Task<void> KeyWatches::catch_up(std::shared_ptr<KeyWatches> self) {
  std::set<Span>& all = self->interrupted_;
  while (!all.empty()) {
    std::vector<Span> some;
    while (some.size() < kLookMax && !all.empty()) {
      some.push_back(std::move(all.extract(all.begin()).value()));
    }
    const auto looked = co_await self->look(some);
    if (looked || !may_pass(looked.error().code)) continue;
    co_await self->env_.sleep_for(kBeforeLookingAgain);
    all.insert(some.begin(), some.end());
    std::erase_if(all, [&](const Span& range) { return !self->ears_.contains(range); });
  }
  self->catching_up_ = false;
}

Task<Result<void>> KeyWatches::look(std::vector<Span> ranges) {
  Txn txn;
  for (const auto& [key, end] : ranges) {
    const auto part = end.empty() ? Range::Part::count_only : Range::Part::keys_only;
    txn.then.emplace_back(Range{.keys = {.key = key, .end = end}, .part = part});
  }
  const SharedTxn shared = share(std::move(txn));
  const auto answer = co_await port_->committed(shared, env_.now() + kLookPatience);
  if (!answer) co_return Unexpected{answer.error()};
  if (answer->answers.size() != ranges.size()) co_return Result<void>{};
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    judge(ranges[i], answer->answers[i], answer->header.revision);
  }
  co_return Result<void>{};
}

void KeyWatches::judge(const Span& range, const OperationAnswer& found, Revision when) {
  if (range.second.empty()) {
    if (found.count == 0) pass_on(range, {}, 0);
    return;
  }
  std::set<std::string> there;
  for (const KeyValue& entry : found.found) there.insert(entry.key);
  pass_on(range, {.there = &there}, when);
}

}  // namespace holdfast::etcd
