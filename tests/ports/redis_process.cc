#include "tests/ports/redis_process.h"

#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "base/assert.h"
#include "holdfast/clock.h"

namespace holdfast::ports {
namespace {

using namespace std::chrono_literals;

std::filesystem::path make_directory() {
  std::string name = std::filesystem::temp_directory_path() / "holdfast-redis-XXXXXX";
  HOLDFAST_ASSERT(mkdtemp(name.data()) != nullptr);
  return name;
}

// In the child, between fork and exec.
[[noreturn]] void become_server(const std::filesystem::path& directory,
                                std::vector<char*>& arguments) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const std::string log = directory / "log";
  const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  dup2(file, STDOUT_FILENO);
  dup2(file, STDERR_FILENO);
  execv(HOLDFAST_REDIS_SERVER, arguments.data());
  _exit(127);
}

bool answers(const std::string& socket) {
  redisContext* context = redisConnectUnix(socket.c_str());
  const bool connected = context != nullptr && context->err == 0;
  redisFree(context);
  return connected;
}

}  // namespace

std::uint16_t free_port() {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  HOLDFAST_ASSERT(bind(listener, any, size) == 0);
  HOLDFAST_ASSERT(getsockname(listener, any, &size) == 0);
  close(listener);
  return ntohs(address.sin_port);
}

RedisProcess::RedisProcess(std::vector<std::string> arguments)
    : directory_{make_directory()}, socket_{directory_ / "socket"} {
  arguments_ = {"redis-server", "--port", "0", "--unixsocket", socket_, "--save", ""};
  arguments_.insert(arguments_.end(),
                    {"--appendonly", "no", "--bind", "127.0.0.1", "--dir", directory_});
  arguments_.insert(arguments_.end(), arguments.begin(), arguments.end());
  start();
}

RedisProcess::RedisProcess(const Sentinel& sentinel)
    : directory_{make_directory()}, socket_{directory_ / "socket"} {
  // It writes down there what it learns.
  const std::string file = directory_ / "sentinel.conf";
  std::ofstream{file} << "unixsocket " << socket_ << "\ndir " << directory_.string()
                      << "\nbind 127.0.0.1\n"
                      << sentinel.configuration;
  arguments_ = {"redis-server", file, "--sentinel"};
  start();
}

void RedisProcess::start() {
  std::vector<char*> arguments;
  for (std::string& argument : arguments_) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  pid_ = fork();
  HOLDFAST_ASSERT(pid_ >= 0);
  if (pid_ == 0) become_server(directory_, arguments);
  wait_until_it_answers();
}

RedisProcess::~RedisProcess() {
  kill();
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

void RedisProcess::wait_until_it_answers() {
  const int process = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  const TimePoint end = BootClock::now() + 30s;
  bool running = true;
  while (running && !answers(socket_)) {
    // Ends early when the server does.
    pollfd death{.fd = process, .events = POLLIN, .revents = 0};
    running = poll(&death, 1, /*timeout_ms=*/2) == 0 && BootClock::now() < end;
  }
  close(process);
  if (running) return;
  std::fprintf(stderr, "redis-server did not start: see %s\n", directory_.c_str());
  std::abort();
}

void RedisProcess::kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void RedisProcess::restart() {
  kill();
  start();
}

void RedisProcess::pause() {
  ::kill(pid_, SIGSTOP);
  // Stopped for certain only when the kernel says so.
  HOLDFAST_ASSERT(waitpid(pid_, nullptr, WUNTRACED) == pid_);
}

void RedisProcess::resume() { ::kill(pid_, SIGCONT); }

}  // namespace holdfast::ports
