// ForeignClient: a lock library nobody here wrote, in a process of its own.

#pragma once

#include <sys/types.h>

#include <cstdio>
#include <string>
#include <vector>

namespace holdfast::interop {

/// Thread safety: none. Throws when the process does not start or ends unasked.
class ForeignClient {
 public:
  /// The program, with its arguments, answers each line on standard input by one on its output,
  /// after a first line that says `ready`.
  explicit ForeignClient(const std::vector<std::string>& command);
  ~ForeignClient();
  ForeignClient(const ForeignClient&) = delete;
  ForeignClient& operator=(const ForeignClient&) = delete;

  /// Blocks until it has answered.
  std::string ask(const std::string& line);

 private:
  std::string answer();

  pid_t pid_{-1};
  std::FILE* to_{nullptr};
  std::FILE* from_{nullptr};
};

}  // namespace holdfast::interop
