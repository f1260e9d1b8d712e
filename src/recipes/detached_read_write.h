// Readers and writers of scripts: what ReadWriteLock does, with leases that outlive who takes them
// and are known by their owners.
//
// The steps are those of take_read_write.h, and so are the promises: writers that hold the intent
// do not come between. Everything blocks; not to be called within a callback of Holdfast's.

#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "holdfast/client.h"
#include "holdfast/read_write.h"

namespace holdfast::recipes {

/// Both are released when they are destroyed, unless they were detached; the intent last.
struct DetachedWriter {
  Lease intent;
  Lease lease;
};

// Of the options, the mode is each step's own, and the kind is always detached.

/// As ReadWriteLock::write().
Result<DetachedWriter, AcquireError> write_detached(const Client& client,
                                                    const std::string& name,
                                                    const AcquireOptions& options,
                                                    std::stop_token stop);

/// As ReadWriteLock::upgrade(), of the shared lease that `reader` owns. Where the reader stands
/// under another token, it is another lease: `again`, and that of `reader` is over.
///
/// Beside those failures, lost: `reader` holds no lease on the name; invalid_argument: its lease is
/// not shared. Then nothing was done.
Result<DetachedWriter, AcquireError> upgrade_detached(const Client& client,
                                                      const std::string& name,
                                                      const Owner& reader,
                                                      const AcquireOptions& options,
                                                      std::stop_token stop,
                                                      std::optional<Lease>& again);

/// As ReadWriteLock::downgrade(), of the leases that `writer` and `intent` own: the writer is given
/// up in any case, unless it is found at once that one of them is not held: lost, and nothing was
/// done. invalid_argument: the writer's lease is not exclusive.
Result<Lease, AcquireError> downgrade_detached(const Client& client,
                                               const std::string& name,
                                               const Owner& writer,
                                               const Owner& intent,
                                               const AcquireOptions& options,
                                               std::stop_token stop);

}  // namespace holdfast::recipes
