#include "tests/command/harness.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{60};

std::string read_file(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

[[noreturn]] void become(const Launch& launch, const std::string& out, const std::string& err) {
  const int output_flags = O_WRONLY | O_CREAT | O_TRUNC;
  if (launch.terminal >= 0) {
    setsid();
    ioctl(launch.terminal, TIOCSCTTY, 0);
    for (int fd = 0; fd <= 2; ++fd) dup2(launch.terminal, fd);
  } else {
    setpgid(0, 0);
    dup2(open("/dev/null", O_RDONLY), 0);
    dup2(open(out.c_str(), output_flags, 0666), 1);
    dup2(open(err.c_str(), output_flags, 0666), 2);
  }
  // Nothing of the test's own reaches the program but what it names.
  close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  // First out of each other's way, then where they belong.
  std::map<int, int> moved;
  for (const auto& [theirs, ours] : launch.descriptors) {
    if (ours >= 0) moved[theirs] = fcntl(ours, F_DUPFD_CLOEXEC, 100);
  }
  for (const auto& [theirs, ours] : launch.descriptors) {
    if (ours < 0) {
      close(theirs);
    } else {
      dup2(moved.at(theirs), theirs);
    }
  }
  for (const auto& [name, value] : launch.environment) setenv(name.c_str(), value.c_str(), 1);
  if (launch.uid != 0 && (setgid(launch.uid) != 0 || setuid(launch.uid) != 0)) _exit(99);
  std::vector<char*> argv{const_cast<char*>("holdfast")};
  for (const std::string& word : launch.arguments) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execv(HOLDFAST_COMMAND_PATH, argv.data());
  _exit(99);
}

}  // namespace

Running::Running(pid_t pid, std::string out, std::string err)
    : pid_{pid}, out_{std::move(out)}, err_{std::move(err)} {}

Running::Running(Running&& other) noexcept
    : pid_{std::exchange(other.pid_, 0)},
      out_{std::move(other.out_)},
      err_{std::move(other.err_)} {}

Running::~Running() {
  if (pid_ == 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void Running::signal(int signal) const { ASSERT_EQ(kill(pid_, signal), 0); }

bool Running::alive() const {
  siginfo_t info{};
  if (pid_ == 0 || waitid(P_PID, pid_, &info, WEXITED | WNOHANG | WNOWAIT) != 0) return false;
  return info.si_pid == 0;
}

void Running::await_stop() const {
  int status = 0;
  eventually("the program's stop",
             [&] { return waitpid(pid_, &status, WNOHANG | WUNTRACED) == pid_; });
  EXPECT_TRUE(WIFSTOPPED(status));
}

Finished Running::wait() {
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  pollfd event{fd, POLLIN, 0};
  const int ready = poll(&event, 1, std::chrono::milliseconds{kPatience}.count());
  close(fd);
  if (ready != 1) {
    ADD_FAILURE() << "the program does not end";
    kill(pid_, SIGKILL);
  }
  int status = 0;
  waitpid(std::exchange(pid_, 0), &status, 0);
  return {.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
          .signalled = WIFSIGNALED(status),
          .out = read_file(out_),
          .err = read_file(err_)};
}

bool eventually(std::string_view what, const std::function<bool()>& condition) {
  const auto give_up = Clock::now() + kPatience;
  while (!condition()) {
    if (Clock::now() > give_up) {
      ADD_FAILURE() << "in vain waited for: " << what;
      return false;
    }
    poll(nullptr, 0, 2);
  }
  return true;
}

CommandTest::CommandTest() {
  std::string pattern = fs::temp_directory_path() / "holdfast-command-XXXXXX";
  directory_ = mkdtemp(pattern.data());
  for (const char* name :
       {"HOLDFAST_LOCK", "HOLDFAST_TOKEN", "HOLDFAST_OWNER", "HOLDFAST_SEQUENCER", "NO_COLOR"}) {
    unsetenv(name);
  }
}

CommandTest::~CommandTest() {
  for (const int fd : opened_) close(fd);
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
}

Running CommandTest::start(Launch launch) {
  launch.environment.try_emplace("HOLDFAST_ENGINE", engine());
  launch.environment.try_emplace("D", directory_);
  launch.environment.try_emplace("H", HOLDFAST_COMMAND_PATH);
  const std::string stem = path("holdfast." + std::to_string(++started_));
  const pid_t pid = fork();
  if (pid == 0) become(launch, stem + ".out", stem + ".err");
  // Whoever leads a group cannot begin a session.
  if (launch.terminal < 0) setpgid(pid, pid);
  return Running{pid, stem + ".out", stem + ".err"};
}

Running CommandTest::start(Words arguments) {
  return start(Launch{.arguments = std::move(arguments)});
}

Finished CommandTest::run(Words arguments) { return start(std::move(arguments)).wait(); }

Finished CommandTest::run_with_input(Words arguments, std::string_view input) {
  write("input", input);
  const int fd = open(path("input").c_str(), O_RDONLY | O_CLOEXEC);
  const Finished finished =
      run(Launch{.arguments = std::move(arguments), .descriptors = {{0, fd}}});
  close(fd);
  return finished;
}

Finished CommandTest::run(Launch launch) { return start(std::move(launch)).wait(); }

boost::json::object CommandTest::run_json(Words arguments, int expected_code) {
  const Finished finished = run(Words{"--json"} + std::move(arguments));
  EXPECT_EQ(finished.code, expected_code) << finished.out << finished.err;
  return parse_object(finished.out);
}

int CommandTest::open_output(std::string_view name) {
  opened_.push_back(open(path(name).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  return opened_.back();
}

bool CommandTest::exists(std::string_view name) const { return fs::exists(path(name)); }

std::string CommandTest::read(std::string_view name) const { return read_file(path(name)); }

Words CommandTest::read_lines(std::string_view name) const {
  Words lines;
  std::istringstream text{read(name)};
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

void CommandTest::write(std::string_view name, std::string_view text) const {
  std::ofstream{path(name), std::ios::binary} << text;
}

std::string CommandTest::await(std::string_view name) const {
  eventually("the file " + std::string{name}, [&] { return read(name).ends_with('\n'); });
  return read(name);
}

void CommandTest::await_waiters(const std::string& lock, std::size_t count) {
  eventually("waiters for " + lock, [&] {
    return run_json({"show", lock}).at("waiters").as_array().size() == count;
  });
}

Words CommandTest::shell(std::string_view script) const {
  return {"--", "sh", "-c", std::string{script}};
}

Words operator+(Words left, Words right) {
  for (std::string& word : right) left.push_back(std::move(word));
  return left;
}

boost::json::object parse_object(std::string_view text) {
  boost::json::error_code error;
  const boost::json::value value = boost::json::parse({text.data(), text.size()}, error);
  if (error || !value.is_object()) {
    ADD_FAILURE() << "not one JSON object: " << text;
    return {};
  }
  return value.as_object();
}

bool process_exists(pid_t pid) { return kill(pid, 0) == 0; }

pid_t guardian_of(pid_t supervisor) {
  pid_t found = 0;
  eventually("the guardian", [&] {
    for (const auto& entry : fs::directory_iterator{"/proc"}) {
      const pid_t pid = std::atoi(entry.path().filename().c_str());
      if (pid == 0) continue;
      const std::string stat = read_file(entry.path() / "stat");
      const std::size_t close = stat.rfind(')');
      if (stat.find("(holdfast-guard)") == stat.npos || close == stat.npos) continue;
      std::istringstream rest{stat.substr(close + 1)};
      char state = 0;
      pid_t parent = 0;
      rest >> state >> parent;
      if (parent == supervisor) found = pid;
    }
    return found != 0;
  });
  return found;
}

std::set<std::string> keys(const boost::json::object& object) {
  std::set<std::string> names;
  for (const auto& field : object) names.emplace(field.key());
  return names;
}

boost::json::object BadArgumentsTest::refused() {
  const BadArguments& given = GetParam();
  const Finished human = run(given.arguments);
  EXPECT_EQ(human.code, given.code) << human.err;
  EXPECT_NE(human.err.find(given.cause), std::string::npos) << human.err;
  EXPECT_EQ(human.out, "");
  const auto json = run_json(given.arguments, given.code);
  if (!json.contains("error")) {
    ADD_FAILURE() << "no error in the JSON";
    return {};
  }
  boost::json::object error = json.at("error").as_object();
  EXPECT_NE(error.at("message").as_string().find(given.cause), std::string::npos);
  EXPECT_FALSE(error.at("remedy").as_string().empty());
  return error;
}

}  // namespace holdfast::test
