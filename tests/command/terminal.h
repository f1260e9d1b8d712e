// A terminal as people have it: a shell in a pane of tmux, with a server of the test's own.

#pragma once

#include <string>

namespace holdfast::test {

class Terminal {
 public:
  /// 100 columns and 12 lines. `socket`: where the server may have its socket. A failure of the
  /// test if no shell appears.
  explicit Terminal(std::string socket);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// Has tmux do something, and gives what it said.
  std::string tmux(const std::string& arguments) const;

  /// What is to be seen.
  std::string screen() const;
  /// Waits until that can be seen. False, and a failure of the test, if that takes too long.
  bool shows(const std::string& text) const;

  /// Types a line without quotes in it.
  void type(const std::string& line) const;
  /// Types a call of `holdfast`.
  void type_command(const std::string& engine, const std::string& arguments) const;
  /// Presses one key, by its name for tmux.
  void press(const std::string& key) const;

 private:
  std::string socket_;
};

}  // namespace holdfast::test
