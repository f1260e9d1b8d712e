// SignalsBlocked: around the start of a thread of the library's own.
//
// A thread begins with the mask of the one that starts it. Ours take no signals: the handlers of
// the application run on its own threads.

#pragma once

#include <pthread.h>

#include <csignal>

namespace holdfast {

/// Blocks every signal on this thread as long as it lives. Thread safety: none.
class [[nodiscard]] SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace holdfast
