#include "recipes/read_write_steps.h"

#include <utility>

#include "recipes/released.h"
#include "recipes/take_all.h"

namespace holdfast::recipes {
namespace {

AcquireError lost(const std::string& what) {
  return {Errc::lost, what + ": somebody may have written meanwhile", "read anew"};
}

}  // namespace

ReadWriteSteps::ReadWriteSteps(Client client, std::string name, const ReadWriteOptions& options)
    : client_{std::move(client)},
      name_{std::move(name)},
      ttl_{options.ttl},
      label_{options.label} {}

AcquireOptions ReadWriteSteps::options(Mode mode, Millis wait) const {
  return {.mode = mode, .ttl = ttl_, .wait = wait, .label = label_};
}

Task<ReadWriteSteps::Taken> ReadWriteSteps::take(std::string name,
                                                 Mode mode,
                                                 Millis wait,
                                                 std::stop_token stop) const {
  ClientLocks locks{client_};
  std::vector<std::string> names{std::move(name)};
  std::vector<Lease> held;
  const AcquireOptions wanted = options(mode, wait);
  auto answers = co_await locks.take_each(std::move(names), wanted, std::move(stop), held);
  co_return std::move(answers.front());
}

Task<Result<ReadLease, AcquireError>> ReadWriteSteps::read(Millis wait,
                                                           std::stop_token stop) const {
  auto taken = co_await take(name_, Mode::shared, wait, std::move(stop));
  if (!taken) co_return Unexpected{std::move(taken).error()};
  co_return ReadLease{std::move(*taken)};
}

Task<Result<WriteLease, AcquireError>> ReadWriteSteps::write(Millis wait,
                                                             std::stop_token stop) const {
  ClientLocks locks{client_};
  std::vector<std::string> names{intent_lock(name_), name_};
  const AcquireOptions wanted = options(Mode::exclusive, wait);
  auto taken = co_await take_all(locks, std::move(names), wanted, std::move(stop));
  if (!taken) co_return Unexpected{std::move(taken).error()};
  co_return WriteLease{std::move(taken->front()), std::move(taken->back())};
}

Task<Result<WriteLease, AcquireError>> ReadWriteSteps::upgrade(ReadLease& reader,
                                                               Millis wait,
                                                               std::stop_token stop) const {
  auto intent = co_await take(intent_lock(name_), Mode::exclusive, Millis{0}, stop);
  if (!intent) {
    AcquireError refusal = std::move(intent).error();
    if (refusal.code == Errc::busy) {
      refusal.message = "somebody else is about to write \"" + name_ + "\"";
      refusal.remedy_text = "release the reader, and begin anew";
    }
    co_return Unexpected{std::move(refusal)};
  }
  // From here on nobody of this class becomes a writer. Somebody may have been one before, if the
  // reader had been lost by then: its release tells.
  const bool stood = reader.ensure_held().has_value();
  const ReleaseOutcome outcome = co_await released(reader.lease_);
  if (!stood || outcome == ReleaseOutcome::already_lost) {
    co_await released(*intent);
    co_return Unexpected{lost("the reader of \"" + name_ + "\" was lost")};
  }
  auto lease = co_await take(name_, Mode::exclusive, wait, std::move(stop));
  if (!lease) {
    AcquireError refusal = std::move(lease).error();
    auto told = co_await back_to_reading(reader, std::move(*intent), std::move(refusal));
    co_return Unexpected{std::move(told)};
  }
  if (!intent->ensure_held()) {
    co_await released(*lease);
    co_return Unexpected{lost("the intent to write \"" + name_ + "\" was lost")};
  }
  co_return WriteLease{std::move(*intent), std::move(*lease)};
}

/// What to tell of an upgrade that found no end of readers.
Task<AcquireError> ReadWriteSteps::back_to_reading(ReadLease& reader,
                                                   Lease intent,
                                                   AcquireError refusal) const {
  // Only somebody without an intent can be in the way, and for no longer than its section takes.
  auto again = co_await take(name_, Mode::shared, ttl_, {});
  const bool undisturbed = again && intent.ensure_held().has_value();
  co_await released(intent);
  if (again && !undisturbed) co_await released(*again);
  if (!undisturbed) co_return lost("the reader of \"" + name_ + "\" could not be had again");
  reader.lease_ = std::move(*again);
  co_return refusal;
}

Task<Result<ReadLease, AcquireError>> ReadWriteSteps::downgrade(WriteLease writer,
                                                                Millis wait,
                                                                std::stop_token stop) const {
  const ReleaseOutcome outcome = co_await released(writer.lease_);
  auto lease = co_await take(name_, Mode::shared, wait, std::move(stop));
  const bool undisturbed = outcome != ReleaseOutcome::already_lost && writer.intent_.ensure_held();
  co_await released(writer.intent_);
  if (!lease) co_return Unexpected{std::move(lease).error()};
  if (!undisturbed) {
    co_await released(*lease);
    co_return Unexpected{lost("the writer of \"" + name_ + "\" was lost")};
  }
  co_return ReadLease{std::move(*lease)};
}

}  // namespace holdfast::recipes
