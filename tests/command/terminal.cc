#include "tests/command/terminal.h"

#include <array>
#include <cstdio>
#include <utility>

#include "tests/command/harness.h"

namespace holdfast::test {

Terminal::Terminal(std::string socket) : socket_{std::move(socket)} {
  tmux("-f /dev/null new-session -d -x 100 -y 12 'PS1=ready: exec sh -i'");
  shows("ready:");
}

Terminal::~Terminal() { tmux("kill-server"); }

std::string Terminal::tmux(const std::string& arguments) const {
  const std::string command = "tmux -S " + socket_ + " " + arguments + " 2>&1";
  std::string said;
  std::FILE* const pipe = popen(command.c_str(), "r");
  std::array<char, 4096> part{};
  while (std::fgets(part.data(), part.size(), pipe) != nullptr) said += part.data();
  pclose(pipe);
  return said;
}

std::string Terminal::screen() const { return tmux("capture-pane -p"); }

bool Terminal::shows(const std::string& text) const {
  return eventually(text, [&] { return screen().find(text) != std::string::npos; });
}

void Terminal::type(const std::string& line) const { tmux("send-keys '" + line + "' Enter"); }

void Terminal::type_command(const std::string& engine, const std::string& arguments) const {
  type(std::string{HOLDFAST_COMMAND_PATH} + " --engine " + engine + " " + arguments);
}

void Terminal::press(const std::string& key) const { tmux("send-keys " + key); }

}  // namespace holdfast::test
