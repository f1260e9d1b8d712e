// ReadWriteSteps: how readers and writers of one name come, change places and go, as tasks.
//
// docs/adr/0016-writers-hold-an-intent.md says what the intent is for.
//
// Thread safety: its members may be called from any thread; the tasks run on executors of their
// own. Lifetime: outlives the tasks it gives.

#pragma once

#include <stop_token>
#include <string>

#include "base/task.h"
#include "holdfast/read_write.h"
#include "recipes/client_locks.h"

namespace holdfast::recipes {

class ReadWriteSteps {
 public:
  ReadWriteSteps(Client client, std::string name, const ReadWriteOptions& options);

  // As the members of ReadWriteLock.
  Task<Result<ReadLease, AcquireError>> read(Millis wait, std::stop_token stop) const;
  Task<Result<WriteLease, AcquireError>> write(Millis wait, std::stop_token stop) const;
  /// The reader outlives the await.
  Task<Result<WriteLease, AcquireError>> upgrade(ReadLease& reader,
                                                 Millis wait,
                                                 std::stop_token stop) const;
  Task<Result<ReadLease, AcquireError>> downgrade(WriteLease writer,
                                                  Millis wait,
                                                  std::stop_token stop) const;

 private:
  using Taken = ClientLocks::Taken;

  Task<Taken> take(std::string name, Mode mode, Millis wait, std::stop_token stop) const;
  Task<AcquireError> back_to_reading(ReadLease& reader, Lease intent, AcquireError refusal) const;
  AcquireOptions options(Mode mode, Millis wait) const;

  Client client_;
  std::string name_;
  Millis ttl_;
  std::string label_;
};

}  // namespace holdfast::recipes
