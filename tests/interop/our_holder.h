// OurHolder: a lock of ours in a process of its own, which can be killed.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace holdfast::interop {

/// Thread safety: none. Throws when the process does not get the lock.
class OurHolder {
 public:
  enum class Until : std::uint8_t { held, started };

  /// With a TTL of 2 s. Returns when it holds the lock, or at once. Only in programs that use
  /// main_with_holders().
  OurHolder(const std::string& url, const std::string& name, Until until = Until::held);
  ~OurHolder() { kill(); }
  OurHolder(const OurHolder&) = delete;
  OurHolder& operator=(const OurHolder&) = delete;

  /// SIGKILL.
  void kill();

 private:
  pid_t pid_{-1};
};

/// The main() of a test program, which is also that of the processes that hold.
int main_with_holders(int argc, char** argv);

}  // namespace holdfast::interop
