#include "engines/local/open_stores.h"

#include <pthread.h>

#include "base/assert.h"
#include "base/fork.h"

namespace holdfast::local {

OpenStores& OpenStores::instance() {
  // Never destroyed: stores may be closed, and processes forked, until the very end.
  static auto& stores = *new OpenStores;
  return stores;
}

OpenStores::OpenStores() : generation_{fork_generation()} {
  const int registered = pthread_atfork([] { instance().before_fork(); },
                                        [] { instance().after_fork(); },
                                        [] { instance().after_fork(); });
  HOLDFAST_ASSERT(registered == 0);
}

std::unique_lock<std::mutex> OpenStores::enter() {
  std::unique_lock lock{mutex_};
  if (generation_ == fork_generation()) return lock;
  for (Member* inherited : members_) inherited->let_go();
  members_.clear();
  generation_ = fork_generation();
  return lock;
}

void OpenStores::before_fork() {
  mutex_.lock();
  for (Member* store : members_) store->rest();
}

void OpenStores::after_fork() {
  for (Member* store : members_) store->resume();
  mutex_.unlock();
}

}  // namespace holdfast::local
