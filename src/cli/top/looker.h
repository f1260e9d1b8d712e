// Looks at an engine's locks every so often, on a thread of its own: an engine that does not answer
// must not keep the keyboard waiting.

#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "base/unique_fd.h"
#include "cli/top/board_text.h"
#include "holdfast/client.h"

namespace holdfast::cli {

/// What the engine has of refused stale operations. Empty: it has no store, or gave no answer.
std::optional<observe::RefusalRecord> look_at_refusals(Client& client);

/// Thread safety: all members are called by one thread.
class Looker {
 public:
  Looker(Client client, std::string prefix, Millis every);

  /// Readable when there was a look that latest() has not given yet.
  int fd() const { return looked_.get(); }

  struct Look {
    BoardHead head;
    std::vector<BoardRow> rows;
  };
  Look latest();

 private:
  void look_on(const std::stop_token& stop);
  void look();

  Client client_;
  std::string prefix_;
  Millis every_;
  UniqueFd looked_;
  LockBoard board_;
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  Look look_;
  // Last: its thread uses the members above and is joined first.
  std::jthread thread_;
};

}  // namespace holdfast::cli
