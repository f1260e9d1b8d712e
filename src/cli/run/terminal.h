// The controlling terminal, lent to the program of a run.
//
// The program has a process group of its own, and a terminal listens to one group at a time. A
// program that is interactive gets it at once; any other gets it when it first reads or sets it.

#pragma once

#include <sys/types.h>

#include "base/unique_fd.h"
#include "cli/run/child.h"

namespace holdfast::cli {

class Terminal {
 public:
  /// Without a controlling terminal, or with our job in the background, everything does nothing.
  Terminal();

  /// At once when stdin and stdout are this terminal and our job is in its foreground: with stdout
  /// piped elsewhere, a pager in our own group may be the one that needs it.
  TerminalUse wanted() const;

  /// Whether our own group is the terminal's foreground group.
  bool ours() const;
  bool lent() const { return lent_; }
  void lend(pid_t group);
  void take_back();
  /// The program took it by itself, as wanted() told it.
  void note_lent() { lent_ = true; }

 private:
  UniqueFd fd_;
  bool lent_{false};
};

}  // namespace holdfast::cli
