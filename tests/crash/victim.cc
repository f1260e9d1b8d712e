#include "tests/crash/victim.h"

#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <utility>

#include "engines/local/engine.h"
#include "tests/crash/storm.h"

extern char** environ;

namespace holdfast::crash {
namespace {

using local::Engine;
using local::Request;
using local::Ticket;

constexpr std::array<std::pair<Operation, const char*>, 12> kNames{{
    {Operation::acquire_new_name, "acquire_new_name"},
    {Operation::acquire_known_name, "acquire_known_name"},
    {Operation::acquire_detached, "acquire_detached"},
    {Operation::release, "release"},
    {Operation::renew_session, "renew_session"},
    {Operation::renew_detached, "renew_detached"},
    {Operation::enqueue, "enqueue"},
    {Operation::leave_queue, "leave_queue"},
    {Operation::hand_over, "hand_over"},
    {Operation::take_over, "take_over"},
    {Operation::take_over_from_the_dead, "take_over_from_the_dead"},
    {Operation::grow, "grow"},
}};

// Others wait for it to end after each death: short, yet long enough to step through an operation.
constexpr Millis kDetachedTtl{60};

Operation parse(const std::string& text) {
  for (const auto& [operation, name] : kNames) {
    if (text == name) return operation;
  }
  std::abort();
}

class Victim {
 public:
  Victim(const std::string& directory, std::string name)
      : engine_{open(directory)}, name_{std::move(name)} {}

  // Everything up to the point from which each instruction is a place to die.
  void prepare(Operation operation) {
    switch (operation) {
      case Operation::acquire_new_name:
        use("some other name");
        return;
      case Operation::acquire_known_name:
      case Operation::acquire_detached:
        use(name_);
        return;
      case Operation::release:
      case Operation::renew_session:
      case Operation::hand_over:
        ticket_ = enter(session_);
        return;
      case Operation::renew_detached:
        ticket_ = enter(detached_);
        require(engine_->confirm(ticket_, BootClock::now()));
        return;
      case Operation::enqueue:
        use("some other name");
        return;
      case Operation::leave_queue:
      case Operation::take_over:
      case Operation::take_over_from_the_dead:
        ticket_ = enter(session_);
        return;
      case Operation::grow:
        use("some other name");
        fill_file();
        return;
    }
  }

  void perform(Operation operation) {
    switch (operation) {
      case Operation::acquire_new_name:
      case Operation::acquire_known_name:
      case Operation::enqueue:
      case Operation::grow:
        ticket_ = enter(session_);
        return;
      case Operation::acquire_detached:
        ticket_ = enter(detached_);
        require(engine_->look(ticket_, BootClock::now()).state == local::Standing::State::granted);
        require(engine_->confirm(ticket_, BootClock::now()));
        return;
      case Operation::release:
      case Operation::hand_over:
      case Operation::leave_queue:
        engine_->leave(ticket_);
        return;
      case Operation::renew_session:
        require(engine_->renew(ticket_, BootClock::now()) == local::Renewal::renewed);
        return;
      case Operation::renew_detached:
        require(engine_->renew_detached(name_, ticket_.owner, kDetachedTtl, BootClock::now())
                    .has_value());
        return;
      case Operation::take_over:
      case Operation::take_over_from_the_dead:
        require(engine_->look(ticket_, BootClock::now()).state == local::Standing::State::granted);
        require(engine_->confirm(ticket_, BootClock::now()));
        return;
    }
  }

 private:
  static void require(bool condition) {
    if (!condition) std::abort();
  }
  static std::unique_ptr<Engine> open(const std::string& directory) {
    auto engine = Engine::open(directory);
    require(engine.has_value());
    return std::move(*engine);
  }
  Ticket enter(const Request& request) {
    auto ticket = engine_->enter(name_, request, BootClock::now());
    require(ticket.has_value());
    return *ticket;
  }
  void use(const std::string& name) {
    auto ticket = engine_->enter(name, session_, BootClock::now());
    require(ticket.has_value());
    engine_->leave(*ticket);
  }
  // Leaves less room at the end of the file than the next name needs.
  void fill_file() {
    auto& head = engine_->header();
    while (head.end_bytes.load() + 2 * local::kUnit <= head.file_bytes.load()) {
      require(local::allocate(engine_->file(), local::Kind::session).has_value());
    }
  }

  std::unique_ptr<Engine> engine_;
  std::string name_;
  Request session_{.ttl = Millis{30'000}};
  Request detached_{.kind = LeaseKind::detached, .ttl = kDetachedTtl};
  Ticket ticket_;
};

// Stops twice for its tracer: before and after the operation.
int die_when_told(const std::string& directory, const std::string& name, Operation operation) {
  Victim victim{directory, name};
  victim.prepare(operation);
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) return 3;
  raise(SIGSTOP);
  victim.perform(operation);
  raise(SIGSTOP);
  _exit(0);
}

}  // namespace

std::string to_string(Operation operation) {
  for (const auto& [candidate, name] : kNames) {
    if (candidate == operation) return name;
  }
  std::abort();
}

pid_t spawn(const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"/proc/self/exe"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = -1;
  if (posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr, argv.data(), environ) != 0) return -1;
  return pid;
}

int run_victim(int argc, char** argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const std::string role = argv[1];
  if (role == "--victim" && argc == 5) return die_when_told(argv[2], argv[3], parse(argv[4]));
  if (role == "--storm" && argc == 5) return run_storm_worker(argv[2], argv[3], std::atoi(argv[4]));
  return 2;
}

}  // namespace holdfast::crash
