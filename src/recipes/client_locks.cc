#include "recipes/client_locks.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "recipes/gathering.h"

namespace holdfast::recipes {
namespace {

/// However long a TTL is asked for, an engine may grant less.
constexpr Millis kRenewEveryMax{2000};

struct Asked {
  explicit Asked(std::size_t count) : answers(count), gathering{count} {}

  std::vector<std::optional<ClientLocks::Taken>> answers;
  Gathering gathering;
};

}  // namespace

Task<std::vector<ClientLocks::Taken>> ClientLocks::take_each(std::vector<std::string> names,
                                                             AcquireOptions options,
                                                             std::stop_token stop,
                                                             std::vector<Lease>& held) {
  const auto asked = std::make_shared<Asked>(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    client_.async_acquire(names[i], options, stop, [asked, i](Taken answer) {
      asked->answers[i].emplace(std::move(answer));
      asked->gathering.arrive();
    });
  }
  held_ = &held;
  co_await asked->gathering.all_here();
  held_ = nullptr;
  std::vector<Taken> taken;
  for (auto& answer : asked->answers) taken.push_back(*std::move(answer));
  co_return taken;
}

Task<void> ClientLocks::give_back(std::vector<Lease> leases) {
  const auto gathering = std::make_shared<Gathering>(leases.size());
  for (Lease& lease : leases) {
    lease.async_release([gathering](ReleaseOutcome) { gathering->arrive(); });
  }
  co_await gathering->all_here();
}

void ClientLocks::keep_alive() {
  if (held_ == nullptr) return;
  // Whether it still stands is asked when everything is held.
  for (Lease& lease : *held_) static_cast<void>(lease.renew());
}

Chore renewal_of(ClientLocks& locks, const AcquireOptions& options) {
  if (options.kind != LeaseKind::detached) return {};
  return {.every = std::min(options.ttl / 3, kRenewEveryMax),
          .work = [&locks] { locks.keep_alive(); }};
}

}  // namespace holdfast::recipes
