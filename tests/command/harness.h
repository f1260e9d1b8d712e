// Drives the real `holdfast` program in tests: starts it, signals it, reads what it left behind.

#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <boost/json/object.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::test {

using Words = std::vector<std::string>;

/// How a process ended, with everything it printed.
struct Finished {
  /// Its exit code; 128 + n when signal n ended it.
  int code{-1};
  /// Whether a signal ended it.
  bool signalled{false};
  std::string out;
  std::string err;
};

struct Launch {
  Words arguments;
  /// Put over the environment of the test.
  std::map<std::string, std::string> environment{};
  /// Descriptors of the test the program inherits: its number, ours. -1: closed.
  std::map<int, int> descriptors{};
  /// Given up before the program starts, when not 0.
  uid_t uid{0};
  /// The program's standard streams are this terminal, and it leads a session of its own.
  int terminal{-1};
};

/// A started program. Killed, and waited for, if the test did not.
class Running {
 public:
  Running(pid_t pid, std::string out, std::string err);
  ~Running();
  Running(Running&& other) noexcept;
  Running& operator=(Running&&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int signal) const;
  bool alive() const;
  /// Waits until a signal has stopped it.
  void await_stop() const;
  /// Waits for its end; a failure of the test if that takes too long.
  Finished wait();

 private:
  pid_t pid_;
  std::string out_;
  std::string err_;
};

/// Waits until the condition holds. False, and a failure of the test, if that takes too long.
bool eventually(std::string_view what, const std::function<bool()>& condition);

/// Each test has a directory and an engine of its own.
class CommandTest : public testing::Test {
 protected:
  CommandTest();
  ~CommandTest() override;

  /// Starts `holdfast` with these arguments.
  Running start(Words arguments);
  Running start(Launch launch);
  Finished run(Words arguments);
  Finished run(Launch launch);
  /// With this on stdin, as from a file.
  Finished run_with_input(Words arguments, std::string_view input);
  /// Runs with --json and reads the one object.
  boost::json::object run_json(Words arguments, int expected_code = 0);

  std::string path(std::string_view name) const { return directory_ + "/" + std::string{name}; }
  std::string state_directory() const { return path("state"); }
  std::string engine() const { return "local:" + state_directory(); }
  bool exists(std::string_view name) const;
  /// A new file of the test's, open for writing until the test ends.
  int open_output(std::string_view name);
  std::string read(std::string_view name) const;
  Words read_lines(std::string_view name) const;
  void write(std::string_view name, std::string_view text) const;
  /// Waits until the file has at least one whole line, and gives its text.
  std::string await(std::string_view name) const;
  void await_waiters(const std::string& lock, std::size_t count);
  /// `sh -c` with the test's directory in $D and the program in $H.
  Words shell(std::string_view script) const;

 private:
  std::string directory_;
  int started_{0};
  std::vector<int> opened_;
};

/// The words of two lists, one after the other.
Words operator+(Words left, Words right);

boost::json::object parse_object(std::string_view text);

/// The names of an object's fields.
std::set<std::string> keys(const boost::json::object& object);

/// A user without any rights.
inline constexpr uid_t kNobody = 65534;

/// Arguments that are wrong.
struct BadArguments {
  const char* label;
  Words arguments;
  int code;
  /// Part of the message.
  const char* cause;
};

/// Refused with the right code, a message that names the cause, and a remedy.
class BadArgumentsTest : public CommandTest, public testing::WithParamInterface<BadArguments> {
 protected:
  /// Runs it both ways, and gives the JSON error.
  boost::json::object refused();
};

/// Whether a process with this id exists, ended but not waited for included.
bool process_exists(pid_t pid);

/// The guardian among the children of a supervisor.
pid_t guardian_of(pid_t supervisor);

}  // namespace holdfast::test
