// Tells whoever sits at the terminal what a command is waiting for.

#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cli/console.h"
#include "holdfast/client.h"

namespace holdfast::cli {

/// If it lives for longer than a moment, one line on stderr says what is waited for, and of a
/// single lock who holds it. Does nothing
/// when stderr is not a terminal or the output is JSON.
class WaitNotice {
 public:
  WaitNotice(Client client, std::vector<std::string> names, Format format);

 private:
  void tell(const std::stop_token& stop);

  Client client_;
  std::vector<std::string> names_;
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  // Last: its thread uses the members above and is joined first.
  std::jthread teller_;
};

}  // namespace holdfast::cli
