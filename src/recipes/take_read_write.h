// How readers and writers of one name come, change places and go:
// docs/adr/0016-writers-hold-an-intent.md says what the intent is for.
//
// `Locks` takes and gives back single locks: ClientLocks, or the simulator's.

#pragma once

#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/task.h"
#include "holdfast/read_write.h"
#include "recipes/take_all.h"

namespace holdfast::recipes {

/// Thread safety: none. Lifetime: outlives its tasks, as do the locks and what the options view.
template <class Locks>
class ReadWriteTaking {
 public:
  using Lease = typename Locks::Lease;
  using Taken = typename Locks::Taken;

  /// Both exclusive. The intent goes last, so that no other writer comes before this one has left.
  struct Writer {
    Lease intent;
    Lease lease;
  };
  using Writing = Result<Writer, AcquireError>;

  /// Mode and wait are each step's own.
  ReadWriteTaking(Locks& locks, std::string name, const AcquireOptions& options)
      : locks_{locks}, name_{std::move(name)}, options_{options} {}

  // As the members of ReadWriteLock.
  Task<Taken> read(Millis wait, std::stop_token stop) {
    return take(name_, Mode::shared, wait, std::move(stop));
  }

  Task<Writing> write(Millis wait, std::stop_token stop) {
    std::vector<std::string> names{intent_lock(name_), name_};
    const AcquireOptions wanted = options(Mode::exclusive, wait);
    auto taken = co_await take_all(locks_, std::move(names), wanted, std::move(stop));
    if (!taken) co_return Unexpected{std::move(taken).error()};
    co_return Writer{std::move(taken->front()), std::move(taken->back())};
  }

  /// The reader outlives the await.
  Task<Writing> upgrade(Lease& reader, Millis wait, std::stop_token stop) {
    auto intent = co_await take(intent_lock(name_), Mode::exclusive, Millis{0}, stop);
    if (!intent) co_return Unexpected{not_the_next(std::move(intent).error())};
    // From here on nobody of this class becomes a writer. Somebody may have been one before, if the
    // reader had been lost by then: its release tells.
    const bool stood = locks_.stands(reader);
    const ReleaseOutcome outcome = co_await locks_.release(reader);
    if (!stood || outcome == ReleaseOutcome::already_lost) {
      co_await locks_.release(*intent);
      co_return Unexpected{lost("the reader of \"" + name_ + "\" was lost")};
    }
    auto lease = co_await take(name_, Mode::exclusive, wait, std::move(stop));
    if (!lease) {
      AcquireError refusal = std::move(lease).error();
      auto told = co_await back_to_reading(reader, *std::move(intent), std::move(refusal));
      co_return Unexpected{std::move(told)};
    }
    if (!locks_.stands(*intent)) {
      co_await locks_.release(*lease);
      co_return Unexpected{lost("the intent to write \"" + name_ + "\" was lost")};
    }
    co_return Writer{*std::move(intent), *std::move(lease)};
  }

  Task<Taken> downgrade(Writer writer, Millis wait, std::stop_token stop) {
    const ReleaseOutcome outcome = co_await locks_.release(writer.lease);
    auto lease = co_await take(name_, Mode::shared, wait, std::move(stop));
    const bool undisturbed =
        outcome != ReleaseOutcome::already_lost && locks_.stands(writer.intent);
    co_await locks_.release(writer.intent);
    if (!lease) co_return Unexpected{std::move(lease).error()};
    if (!undisturbed) {
      co_await locks_.release(*lease);
      co_return Unexpected{lost("the writer of \"" + name_ + "\" was lost")};
    }
    co_return std::move(lease);
  }

 private:
  AcquireOptions options(Mode mode, Millis wait) const {
    AcquireOptions wanted = options_;
    wanted.mode = mode;
    wanted.wait = wait;
    return wanted;
  }

  Task<Taken> take(std::string name, Mode mode, Millis wait, std::stop_token stop) {
    std::vector<std::string> names{std::move(name)};
    std::vector<Lease> held;
    const AcquireOptions wanted = options(mode, wait);
    auto answers = co_await locks_.take_each(std::move(names), wanted, std::move(stop), held);
    co_return std::move(answers.front());
  }

  /// What to tell of an upgrade that found no end of readers.
  Task<AcquireError> back_to_reading(Lease& reader, Lease intent, AcquireError refusal) {
    // Only somebody without an intent can be in the way, and for no longer than its section takes.
    auto again = co_await take(name_, Mode::shared, options_.ttl, {});
    const bool undisturbed = again && locks_.stands(intent);
    co_await locks_.release(intent);
    if (again && !undisturbed) co_await locks_.release(*again);
    if (!undisturbed) co_return lost("the reader of \"" + name_ + "\" could not be had again");
    reader = *std::move(again);
    co_return refusal;
  }

  AcquireError not_the_next(AcquireError refusal) const {
    if (refusal.code != Errc::busy) return refusal;
    refusal.message = "somebody else is about to write \"" + name_ + "\"";
    refusal.remedy_text = "release the reader, and begin anew";
    return refusal;
  }

  static AcquireError lost(const std::string& what) {
    return {Errc::lost, what + ": somebody may have written meanwhile", "read anew"};
  }

  Locks& locks_;
  std::string name_;
  AcquireOptions options_;
};

}  // namespace holdfast::recipes
