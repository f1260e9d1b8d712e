#include "cli/run/process_group.h"

#include <dirent.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

namespace holdfast::cli {
namespace {

struct ProcessEntry {
  std::string name;
  char state{'?'};
  pid_t parent{0};
  pid_t group{0};
  bool can_act() const { return state != 'Z' && state != 'X'; }
};

std::optional<ProcessEntry> read_entry(const std::string& pid) {
  std::ifstream file{"/proc/" + pid + "/stat"};
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  // The name is in parentheses and may itself contain any of them.
  const std::size_t open = line.find('(');
  const std::size_t close = line.rfind(')');
  if (open == std::string::npos || close == std::string::npos) return std::nullopt;
  ProcessEntry entry;
  entry.name = line.substr(open + 1, close - open - 1);
  std::istringstream rest{line.substr(close + 1)};
  rest >> entry.state >> entry.parent >> entry.group;
  return entry;
}

bool any_process(const std::function<bool(const ProcessEntry&)>& matches) {
  const std::unique_ptr<DIR, int (*)(DIR*)> proc{opendir("/proc"), closedir};
  if (!proc) return false;
  while (const dirent* item = readdir(proc.get())) {
    if (std::atoi(item->d_name) == 0) continue;
    const auto entry = read_entry(item->d_name);
    if (entry && matches(*entry)) return true;
  }
  return false;
}

}  // namespace

void terminate_group(pid_t group) {
  kill(-group, SIGTERM);
  kill(-group, SIGCONT);
}

bool group_gone(pid_t group) { return kill(-group, 0) == -1 && errno == ESRCH; }

bool group_dead(pid_t group) {
  if (group_gone(group)) return true;
  return !any_process(
      [&](const ProcessEntry& entry) { return entry.group == group && entry.can_act(); });
}

bool adopted_guardian() {
  const pid_t self = getpid();
  return any_process([&](const ProcessEntry& entry) {
    return entry.parent == self && entry.name == kGuardianName && entry.can_act();
  });
}

}  // namespace holdfast::cli
