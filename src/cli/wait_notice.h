// Tells whoever sits at the terminal what a command is waiting for.

#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "cli/console.h"
#include "holdfast/client.h"

namespace holdfast::cli {

/// If it lives for longer than a moment, one line on stderr says who holds the lock. Does nothing
/// when stderr is not a terminal or the output is JSON.
class WaitNotice {
 public:
  WaitNotice(Client client, std::string name, Format format);

 private:
  void tell(const std::stop_token& stop);

  Client client_;
  std::string name_;
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  // Last: its thread uses the members above and is joined first.
  std::jthread teller_;
};

}  // namespace holdfast::cli
