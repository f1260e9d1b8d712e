#include "recipes/wish.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "core/backend.h"
#include "core/election.h"
#include "recipes/deadline_watch.h"
#include "recipes/leader.h"

namespace holdfast::recipes {
namespace {

Error nobody_leads(std::string_view name) {
  return {Errc::not_found,
          "nobody leads " + std::string{name},
          "the first candidate that waits will, without being asked"};
}

Error not_waiting(std::string_view name, std::string_view id) {
  return {Errc::not_found,
          "no candidate " + std::string{id} + " waits for " + std::string{name},
          "name one of those that `holdfast show` lists as waiting"};
}

Error in_vain(std::string_view id, const std::optional<Leader>& leader) {
  const std::string who = !leader ? "nobody" : leader->id.empty() ? "another program" : leader->id;
  return {Errc::timeout,
          std::string{id} + " does not lead: " + who + " does",
          "a leader gives way if `holdfast elect` runs it; others have to be asked themselves"};
}

/// Who leads already, or empty when the candidate is there to be wished for.
Result<std::optional<Leader>> look(Client& client, std::string_view name, std::string_view id) {
  const auto lock = client.inspect(name);
  if (!lock) return Unexpected{lock.error()};
  auto leader = leader_of(*lock);
  if (!leader) return Unexpected{nobody_leads(name)};
  if (leader->id == id) return leader;
  const bool seen = !client.capabilities().fifo || core::is_waiting(*lock, id);
  if (!seen) return Unexpected{not_waiting(name, id)};
  return std::optional<Leader>{};
}

Result<Leader> await(const Client& client,
                     std::string_view name,
                     std::string_view id,
                     TimePoint until,
                     const std::stop_token& stop) {
  auto watch = LeaderWatch::start(client, name);
  if (!watch) return Unexpected{watch.error()};
  std::stop_source over;
  const std::stop_callback on_stop{stop, [over]() mutable { over.request_stop(); }};
  const DeadlineWatch impatience{[until] { return until; },
                                 [over]() mutable { over.request_stop(); }};
  std::optional<Leader> last;
  for (;;) {
    auto leader = watch->next(over.get_token());
    if (leader) last = *std::move(leader);
    if (last && last->id == id) return *std::move(last);
    if (stop.stop_requested()) return Unexpected{Error{Errc::cancelled, "no longer waited for"}};
    if (over.stop_requested()) return Unexpected{in_vain(id, last)};
    if (!leader && leader.error().code != Errc::unavailable) return Unexpected{leader.error()};
  }
}

}  // namespace

Result<Leader> wish_for(Client& client,
                        std::string_view name,
                        std::string_view id,
                        Millis patience,
                        std::stop_token stop) {
  const auto next_name = core::next_leader_name(name);
  if (!next_name) return Unexpected{next_name.error()};
  if (auto good = core::check_candidate(id, {}); !good) return Unexpected{good.error()};
  patience = std::clamp(patience, Millis{0}, kTtlMax);
  const TimePoint until = BootClock::now() + patience;
  auto there = look(client, name, id);
  if (!there) return Unexpected{std::move(there).error()};
  if (*there) return **std::move(there);
  const std::string label = core::to_label({.id = std::string{id}, .value = {}});
  // Should this process die meanwhile, it stands for no longer than it is worth.
  const AcquireOptions options{
      .ttl = std::max(patience, kTtlMin), .wait = patience, .label = label};
  const auto wish = client.acquire(*next_name, options, stop);
  if (!wish) return Unexpected{Error{wish.error()}};
  return await(client, name, id, until, stop);
}

class WishWatch::Watching : public std::enable_shared_from_this<Watching> {
 public:
  Watching(const Client& client, const CandidacyTerms& terms, OnWish on_wish)
      : client_{client},
        name_{terms.name},
        own_id_{terms.id},
        next_{client.backend()->observe(terms.next_name)},
        on_wish_{std::move(on_wish)} {}

  void watch() {
    next_->next(end_.get_token(),
                [self = shared_from_this()](const Result<LockInfo>& next) { self->hear(next); });
  }

  void end() {
    {
      const std::lock_guard lock{mutex_};
      on_wish_ = nullptr;
    }
    end_.request_stop();
  }

 private:
  void hear(const Result<LockInfo>& next) {
    if (end_.stop_requested()) return;
    if (!next) {
      // Who cannot learn of wishes leads on.
      if (next.error().code == Errc::unavailable) watch();
      return;
    }
    const auto named = core::named_next(*next);
    if (!named || *named == own_id_) return watch();
    lock_ = client_.backend()->observe(name_);
    lock_->next(end_.get_token(), [self = shared_from_this(), named](const Result<LockInfo>& lock) {
      self->judge(*named, lock);
    });
  }

  void judge(const std::string& named, const Result<LockInfo>& lock) {
    const auto queue =
        client_.capabilities().fifo ? core::Queue::first_come_first_served : core::Queue::unordered;
    if (!lock || !core::gives_way(own_id_, named, *lock, queue)) return watch();
    const std::lock_guard guard{mutex_};
    if (on_wish_) std::exchange(on_wish_, nullptr)(named);
  }

  Client client_;
  std::string name_;
  std::string own_id_;
  std::shared_ptr<LockObservation> next_;
  std::shared_ptr<LockObservation> lock_;
  std::stop_source end_;
  std::mutex mutex_;
  OnWish on_wish_;
};

WishWatch::WishWatch(const Client& client, const CandidacyTerms& terms, OnWish on_wish)
    : watching_{std::make_shared<Watching>(client, terms, std::move(on_wish))} {
  watching_->watch();
}

WishWatch::~WishWatch() { watching_->end(); }

}  // namespace holdfast::recipes
