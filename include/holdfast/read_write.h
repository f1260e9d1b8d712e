// A reader-writer lock whose readers can become writers, and writers readers.
//
//     holdfast::ReadWriteLock catalog{client, "catalog"};
//     auto reader = catalog.read();
//     if (is_outdated(read_catalog())) {
//       auto writer = catalog.upgrade(*reader);
//       if (writer) write_catalog(writer->token());   // nobody wrote since we read
//     }
//
// Whoever is to write next holds a second lock, the intent `catalog~intent`, and takes it first. A
// reader that upgrades takes the intent, gives its shared lease up, and takes the exclusive one:
// other readers may come and go meanwhile, other writers of this class cannot. If the intent is
// somebody else's, upgrade() refuses at once: two readers that wait for each other to leave would
// wait for ever.
//
// Whoever takes `catalog` exclusively by other means (Client::acquire, `holdfast run catalog`
// without --writer) keeps out of it like everybody else, but knows nothing of the intent: it may
// get in between.
//
// Thread safety: every member may be called from any thread, but not two of them on one lease, and
// not within a callback of Holdfast's: they wait for others.
// Lifetime: as Client; leases may outlive it. holdfast/async_read_write.h has the same for
// coroutines.

#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "holdfast/client.h"

namespace holdfast {

namespace recipes {
class ReadWriteSteps;
}

/// How the lock is acquired. The view is copied at once.
struct ReadWriteOptions {
  Millis ttl{30'000};
  std::string_view label{};
};

/// The right to read, together with others. Destroying it releases it.
class [[nodiscard]] ReadLease {
 public:
  explicit ReadLease(Lease lease) : lease_{std::move(lease)} {}

  const Lease& lease() const { return lease_; }
  Token token() const { return lease_.token(); }
  Result<void> ensure_held() const { return lease_.ensure_held(); }
  std::stop_token stop_token() const { return lease_.stop_token(); }
  ReleaseOutcome release() { return lease_.release(); }

 private:
  friend class recipes::ReadWriteSteps;

  Lease lease_;
};

/// The right to write, alone. Destroying it releases it.
class [[nodiscard]] WriteLease {
 public:
  /// Both exclusive. The intent goes last, so that no other writer comes before this one has left.
  WriteLease(Lease intent, Lease lease) : intent_{std::move(intent)}, lease_{std::move(lease)} {}
  WriteLease(WriteLease&&) noexcept = default;
  WriteLease& operator=(WriteLease&& other) noexcept {
    lease_ = std::move(other.lease_);
    intent_ = std::move(other.intent_);
    return *this;
  }

  const Lease& lease() const { return lease_; }
  /// Send it with every write.
  Token token() const { return lease_.token(); }
  Result<void> ensure_held() const { return lease_.ensure_held(); }
  std::stop_token stop_token() const { return lease_.stop_token(); }
  ReleaseOutcome release();

 private:
  friend class recipes::ReadWriteSteps;

  Lease intent_;
  Lease lease_;
};

class ReadWriteLock {
 public:
  ReadWriteLock(Client client, std::string name, const ReadWriteOptions& options = {});

  /// Failures of all of them as Client::acquire(), and those named. unsupported: the engine has no
  /// shared locks.
  Result<ReadLease, AcquireError> read(Millis wait = kForever, std::stop_token stop = {});

  /// A waiting writer stops new readers.
  Result<WriteLease, AcquireError> write(Millis wait = kForever, std::stop_token stop = {});

  /// Makes a writer of the reader: no other writer of this class comes between. Waits for other
  /// readers to leave. The reader is given up when this succeeds.
  ///
  /// busy: somebody else is about to write, and the reader stands as before: release it, and begin
  /// anew. timeout, cancelled: other readers stayed; the reader stands, under another token, and
  /// nobody of this class wrote meanwhile. lost: the reader was lost, or could not be had again:
  /// somebody may have written. Whether it stands after any other failure, it says itself.
  Result<WriteLease, AcquireError> upgrade(ReadLease& reader,
                                           Millis wait = kForever,
                                           std::stop_token stop = {});

  /// Makes a reader of the writer: no other writer of this class comes between. The writer is given
  /// up in any case. lost: its intent was lost meanwhile, so that somebody may have written;
  /// nothing is held then.
  Result<ReadLease, AcquireError> downgrade(WriteLease writer,
                                            Millis wait = kForever,
                                            std::stop_token stop = {});

  /// For the coroutines of holdfast/async_read_write.h; not for use by programs.
  const std::shared_ptr<recipes::ReadWriteSteps>& steps() const { return steps_; }

 private:
  std::shared_ptr<recipes::ReadWriteSteps> steps_;
};

/// The lock that whoever is to write `name` next holds.
std::string intent_lock(std::string_view name);

}  // namespace holdfast
