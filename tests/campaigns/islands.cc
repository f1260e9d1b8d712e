#include "tests/campaigns/islands.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <sstream>
#include <stdexcept>

#include "tests/campaigns/let_pass.h"

namespace holdfast::campaigns {
namespace {

using namespace std::chrono_literals;

/// Far longer than any election and any lease here.
constexpr auto kPatience = 120s;

}  // namespace

std::string shell(const std::string& command) {
  std::FILE* const pipe = popen(("{ " + command + "\n} 2>&1").c_str(), "r");
  std::string said;
  char text[512];
  while (pipe != nullptr && std::fgets(text, sizeof text, pipe) != nullptr) said += text;
  const int status = pipe == nullptr ? -1 : pclose(pipe);
  if (status != 0) throw std::runtime_error{command + ": " + said};
  return said;
}

Background::Background(const std::string& command) : pid_{fork()} {
  if (pid_ != 0) return;
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
  _exit(127);
}

Background::~Background() {
  kill(-pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

Islands::Islands(int count) : count_{count} {
  std::string name = std::filesystem::temp_directory_path() / "holdfast-islands-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error{"no directory"};
  directory_ = name;
  shell("ip netns add " + space("net") + " && ip -n " + space("net") +
        " link add br0 type bridge && ip -n " + space("net") + " link set br0 up");
  for (int i = 0; i < count_; ++i) connect(i);
}

Islands::~Islands() {
  servers_.clear();
  for (int i = 0; i < count_; ++i) {
    static_cast<void>(std::system(("ip netns del " + space(i)).c_str()));
  }
  static_cast<void>(std::system(("ip netns del " + space("net")).c_str()));
  std::filesystem::remove_all(directory_);
}

std::string Islands::space(const std::string& what) const {
  return "hf" + std::to_string(getpid()) + '-' + what;
}

void Islands::connect(int island) {
  const std::string end = "v" + std::to_string(island);
  const std::string own = space(island);
  shell("ip netns add " + own + " && ip link add " + end + " netns " + space("net") +
        " type veth peer name eth0 netns " + own + " && ip -n " + space("net") + " link set " +
        end + " master br0 up && ip -n " + own + " addr add " + address(island) +
        "/24 dev eth0 && ip -n " + own + " link set eth0 up && ip -n " + own + " link set lo up");
}

void Islands::run(int island, const std::string& command, const std::string& log) {
  servers_.emplace_back("exec " + at(island) + command + " >" + (directory_ / log).string() +
                        " 2>&1");
}

void Islands::cut_off(int island) {
  shell(at(island) +
        "nft -f - <<'RULES'\ntable inet cut {\n"
        "  chain input { type filter hook input priority 0; iifname \"eth0\" drop; }\n"
        "  chain output { type filter hook output priority 0; oifname \"eth0\" drop; }\n}\nRULES");
}

Actor::Actor(const Islands& islands, int island, const std::string& part, const std::string& word)
    : said_{islands.directory() / (part + std::to_string(island))},
      process_{"exec " + islands.at(island) +
               std::filesystem::read_symlink("/proc/self/exe").string() + ' ' + part + " '" + word +
               "' >" + said_.string()} {}

long long Actor::when(const std::string& word) const {
  const TimePoint limit = BootClock::now() + kPatience;
  while (BootClock::now() < limit) {
    std::istringstream lines{shell("cat " + said_.string() + " 2>/dev/null || true")};
    std::string said;
    for (long long time = 0; lines >> said >> time;) {
      if (said == word) return time;
    }
    let_pass(20ms);
  }
  ADD_FAILURE() << "nobody said " << word;
  return 0;
}

void Actor::say(const std::string& word) {
  const auto now = static_cast<long long>(BootClock::now().time_since_epoch().count());
  static std::mutex mutex;
  const std::lock_guard lock{mutex};
  std::cout << word << ' ' << now << std::endl;
}

}  // namespace holdfast::campaigns
