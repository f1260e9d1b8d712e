// EtcdctlLock: a lock of etcd's own client, in a process of its own.

#pragma once

#include <sys/types.h>

#include <string>

#include "holdfast/clock.h"

namespace holdfast::interop {

/// `etcdctl lock NAME`: queues, says its key once it holds the lock, and holds it until told.
/// Thread safety: none. Throws when the process does not start.
class EtcdctlLock {
 public:
  EtcdctlLock(const std::string& endpoint, const std::string& name, int ttl_seconds = 60);
  /// Kills it.
  ~EtcdctlLock();
  EtcdctlLock(const EtcdctlLock&) = delete;
  EtcdctlLock& operator=(const EtcdctlLock&) = delete;

  /// Waits until it holds the lock, at most so long. Its key; empty: it does not hold it.
  std::string key(Millis patience);
  /// Lets go, or leaves the queue, and waits until that is done.
  void release();
  /// SIGKILL: its lease stays until it ends.
  void kill();

 private:
  void end(int signal);

  pid_t pid_{-1};
  int output_{-1};
  std::string said_;
};

}  // namespace holdfast::interop
