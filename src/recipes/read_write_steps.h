// ReadWriteSteps: take_read_write.h over the locks of a Client, with the leases of programs.
//
// Thread safety: its members may be called from any thread; the tasks run on executors of their
// own. Lifetime: outlives the tasks it gives.

#pragma once

#include <stop_token>
#include <string>

#include "base/task.h"
#include "holdfast/read_write.h"
#include "recipes/client_locks.h"
#include "recipes/take_read_write.h"

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
  using Taking = ReadWriteTaking<ClientLocks>;

  Taking taking(ClientLocks& locks) const;
  static Result<ReadLease, AcquireError> reading(Taking::Taken taken);
  static Result<WriteLease, AcquireError> writing(Taking::Writing taken);

  Client client_;
  std::string name_;
  Millis ttl_;
  std::string label_;
};

}  // namespace holdfast::recipes
