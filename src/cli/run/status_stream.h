// `--status-fd`: what Holdfast itself did in a run, one JSON object per line.
//
//     {"event":"acquired","name":"x","token":17,"ttl_ms":30000}      for each lock
//     {"event":"started","pid":4711}
//     {"event":"lost","reason":"..."}
//     {"event":"released","outcome":"released"}
//     {"event":"exit","code":75,"holdfast":true,"reason":"busy"}
//
// `exit` is always the last, and tells Holdfast's own exit codes from the program's.

#pragma once

#include <boost/json/object.hpp>

#include "base/unique_fd.h"
#include "cli/run/keeper.h"
#include "cli/run/verdict.h"

namespace holdfast::cli {

class StatusStream {
 public:
  /// -1: tells nobody. A reader that went away is no error.
  explicit StatusStream(UniqueFd fd) : fd_{std::move(fd)} {}

  void acquired(const Grant& grant);
  void started(pid_t pid);
  void lost(const Error& error);
  void released(ReleaseOutcome outcome);
  void exit(const Verdict& verdict);

 private:
  void write(const boost::json::object& event);

  UniqueFd fd_;
};

}  // namespace holdfast::cli
