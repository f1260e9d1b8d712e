#include "tests/postgres/process_family.h"

#include <poll.h>
#include <signal.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "holdfast/clock.h"

namespace holdfast::postgres {
namespace {

constexpr std::chrono::seconds kBound{60};
constexpr char kGone = 'Z';

/// As the kernel writes it, such as `T` for stopped.
char state_of(pid_t process) {
  std::ifstream in{"/proc/" + std::to_string(process) + "/stat"};
  std::string text;
  if (!std::getline(in, text)) return kGone;
  // After the name, which may have any character in it.
  const std::size_t at = text.rfind(") ");
  return at == std::string::npos ? kGone : text[at + 2];
}

template <class Reached>
void signal_all(const std::vector<pid_t>& processes, int signal, Reached reached) {
  for (const pid_t process : processes) ::kill(process, signal);
  const TimePoint end = BootClock::now() + kBound;
  for (const pid_t process : processes) {
    while (!reached(state_of(process))) {
      if (BootClock::now() >= end) std::abort();
      poll(nullptr, 0, /*timeout_ms=*/1);
    }
  }
}

}  // namespace

std::vector<pid_t> children_of(pid_t parent) {
  const std::string number = std::to_string(parent);
  std::ifstream in{"/proc/" + number + "/task/" + number + "/children"};
  std::vector<pid_t> children;
  for (pid_t child = 0; in >> child;) children.push_back(child);
  return children;
}

void stop_all(const std::vector<pid_t>& processes) {
  signal_all(processes, SIGSTOP, [](char state) { return state == 'T' || state == kGone; });
}

void continue_all(const std::vector<pid_t>& processes) {
  for (const pid_t process : processes) ::kill(process, SIGCONT);
}

void kill_all(const std::vector<pid_t>& processes) {
  signal_all(processes, SIGKILL, [](char state) { return state == kGone; });
}

}  // namespace holdfast::postgres
