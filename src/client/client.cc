#include "holdfast/client.h"

#include <algorithm>
#include <utility>

#include "core/backend.h"
#include "core/limits.h"
#include "holdfast/sequencer.h"

namespace holdfast {
namespace {

Result<void> check_request(std::string_view name, const AcquireOptions& options) {
  if (auto good = core::check_name(name); !good) return good;
  return core::check_options(options);
}

SequencerStatus compare(const Sequencer& sequencer, const LockInfo& lock) {
  const auto is_it = [&](const Contender& holder) {
    return holder.owner_fp == sequencer.owner_fp && holder.token == sequencer.token &&
           holder.mode == sequencer.mode;
  };
  if (std::ranges::any_of(lock.holders, is_it)) return {.stands = true, .reason = {}};
  if (lock.holders.empty()) return {.stands = false, .reason = "nobody holds the lock"};
  return {.stands = false,
          .reason = "the lock is held by another, with token " +
                    std::to_string(lock.holders.front().token.value())};
}

}  // namespace

Result<Lease, AcquireError> Client::acquire(std::string_view name,
                                            const AcquireOptions& options,
                                            std::stop_token stop) {
  if (auto good = check_request(name, options); !good) return Unexpected{std::move(good).error()};
  auto core = backend_->acquire(name, options, std::move(stop));
  if (!core) return Unexpected{std::move(core).error()};
  return Lease{std::move(*core)};
}

Result<Lease, AcquireError> Client::try_acquire(std::string_view name, AcquireOptions options) {
  options.wait = Millis{0};
  return acquire(name, options);
}

void Client::async_acquire(std::string_view name,
                           const AcquireOptions& options,
                           std::stop_token stop,
                           std::function<void(Result<Lease, AcquireError>)> callback) {
  if (auto good = check_request(name, options); !good) {
    return callback(Unexpected{std::move(good).error()});
  }
  auto deliver = [callback = std::move(callback)](AcquireResult core) {
    if (!core) return callback(Unexpected{std::move(core).error()});
    callback(Lease{std::move(*core)});
  };
  backend_->async_acquire(name, options, std::move(stop), std::move(deliver));
}

Result<Duration> Client::renew(std::string_view name, const Owner& owner, Millis ttl) {
  if (auto good = core::check_name(name); !good) return Unexpected{std::move(good).error()};
  if (auto good = core::check_ttl(ttl); !good) return Unexpected{std::move(good).error()};
  return backend_->renew(name, owner, ttl);
}

Result<ReleaseOutcome> Client::release(std::string_view name, const Owner& owner) {
  if (auto good = core::check_name(name); !good) return Unexpected{std::move(good).error()};
  return backend_->release(name, owner);
}

Result<LockInfo> Client::inspect(std::string_view name) {
  if (auto good = core::check_name(name); !good) return Unexpected{std::move(good).error()};
  return backend_->inspect(name);
}

Result<std::vector<LockInfo>> Client::list(std::string_view prefix) {
  return backend_->list(prefix);
}

Result<void> Client::watch(std::string_view prefix,
                           const std::function<void(const LockEvent&)>& callback,
                           std::stop_token stop) {
  if (!callback) {
    return Unexpected{Error{Errc::invalid_argument, "the callback of watch is empty"}};
  }
  return backend_->watch(prefix, callback, std::move(stop));
}

Result<BreakReport> Client::break_lock(std::string_view name, std::string_view why) {
  if (auto good = core::check_name(name); !good) return Unexpected{std::move(good).error()};
  if (why.size() > kMetadataBytesMax) {
    return Unexpected{Error{Errc::invalid_argument,
                            "the reason of the break has " + std::to_string(why.size()) + " bytes",
                            "use at most 4096 bytes"}};
  }
  return backend_->break_lock(name, why);
}

Result<SequencerStatus> Client::check_sequencer(std::string_view sequencer) {
  auto parsed = parse_sequencer(sequencer);
  if (!parsed) return Unexpected{std::move(parsed).error()};
  if (auto good = core::check_name(parsed->name); !good) {
    return Unexpected{std::move(good).error()};
  }
  if (parsed->domain != backend_->domain()) {
    return SequencerStatus{.stands = false, .reason = "it is of another engine: " + parsed->domain};
  }
  auto lock = backend_->inspect(parsed->name);
  if (!lock) return Unexpected{std::move(lock).error()};
  return compare(*parsed, *lock);
}

Result<Store> Client::store() {
  auto store = backend_->store();
  if (!store) return Unexpected{std::move(store).error()};
  return Store{std::move(*store), backend_};
}

Capabilities Client::capabilities() const { return backend_->capabilities(); }
std::string Client::engine() const { return backend_->engine(); }
std::string Client::domain() const { return backend_->domain(); }

}  // namespace holdfast
