#include "recipes/detached_read_write.h"

#include <algorithm>
#include <utility>

#include "recipes/detached_locks.h"
#include "recipes/run_here.h"
#include "recipes/take_read_write.h"

namespace holdfast::recipes {
namespace {

using Taking = ReadWriteTaking<DetachedLocks>;
using WriterResult = Result<DetachedWriter, AcquireError>;

WriterResult writer_of(Taking::Writing taken) {
  if (!taken) return Unexpected{std::move(taken).error()};
  return DetachedWriter{*std::move(taken->intent->taken), *std::move(taken->lease->taken)};
}

/// Whether that owner holds a lease of that mode on the name, as far as the engine shows.
Result<void, AcquireError> check_held(const Client& client,
                                      const std::string& name,
                                      const Owner& owner,
                                      Mode mode) {
  Client asked{client};
  const auto lock = asked.inspect(name);
  if (!lock) return Unexpected{AcquireError{lock.error()}};
  const std::string fingerprint = owner.fingerprint();
  const auto is_its = [&](const Contender& one) { return one.owner_fp == fingerprint; };
  if (!std::ranges::any_of(lock->holders, is_its)) {
    return Unexpected{AcquireError{Errc::lost,
                                   "that owner does not hold the lock " + name,
                                   "begin anew: somebody may have written meanwhile"}};
  }
  if (lock->mode == mode) return {};
  return Unexpected{
      AcquireError{Errc::invalid_argument,
                   "that lease on " + name + " is " + std::string{to_string(lock->mode)} +
                       ", not " + std::string{to_string(mode)},
                   mode == Mode::shared ? "upgrade a shared one" : "downgrade an exclusive one"}};
}

}  // namespace

WriterResult write_detached(const Client& client,
                            const std::string& name,
                            const AcquireOptions& options,
                            std::stop_token stop) {
  DetachedLocks locks{client, options.ttl};
  Taking taking{locks, name, options};
  return writer_of(run_here(taking.write(options.wait, std::move(stop)), locks.renewal()));
}

WriterResult upgrade_detached(const Client& client,
                              const std::string& name,
                              const Owner& reader,
                              const AcquireOptions& options,
                              std::stop_token stop,
                              std::optional<Lease>& again) {
  auto held = check_held(client, name, reader, Mode::shared);
  if (!held) return Unexpected{std::move(held).error()};
  DetachedLocks locks{client, options.ttl};
  Taking taking{locks, name, options};
  DetachedLocks::Lease lease = locks.adopt(name, reader);
  auto taken = run_here(taking.upgrade(lease, options.wait, std::move(stop)), locks.renewal());
  if (!taken && lease->taken) again = *std::move(lease->taken);
  return writer_of(std::move(taken));
}

Result<Lease, AcquireError> downgrade_detached(const Client& client,
                                               const std::string& name,
                                               const Owner& writer,
                                               const Owner& intent,
                                               const AcquireOptions& options,
                                               std::stop_token stop) {
  for (const auto& [lock, owner] : {std::pair{name, writer}, {intent_lock(name), intent}}) {
    auto held = check_held(client, lock, owner, Mode::exclusive);
    if (!held) return Unexpected{std::move(held).error()};
  }
  DetachedLocks locks{client, options.ttl};
  Taking taking{locks, name, options};
  Taking::Writer leases{locks.adopt(intent_lock(name), intent), locks.adopt(name, writer)};
  auto taken =
      run_here(taking.downgrade(std::move(leases), options.wait, std::move(stop)), locks.renewal());
  if (!taken) return Unexpected{std::move(taken).error()};
  return *std::move((*taken)->taken);
}

}  // namespace holdfast::recipes
