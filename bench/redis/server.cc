#include "bench/redis/server.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <ctime>

#include "bench/redis/bare_client.h"
#include "holdfast/clock.h"

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

/// A loopback port nobody listens on at this moment. 0: none.
std::uint16_t free_port() {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  const bool known = bind(listener, any, size) == 0 && getsockname(listener, any, &size) == 0;
  close(listener);
  return known ? ntohs(address.sin_port) : 0;
}

// In the child, between fork and exec.
[[noreturn]] void become_server(std::vector<char*>& arguments) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

}  // namespace

Result<std::unique_ptr<RedisServer>> RedisServer::start() {
  std::unique_ptr<RedisServer> server{new RedisServer};
  server->port_ = free_port();
  std::vector<std::string> words{"redis-server", "--bind", "127.0.0.1", "--save", ""};
  words.insert(words.end(), {"--port", std::to_string(server->port_), "--appendonly", "no"});
  words.insert(words.end(), {"--dir", server->directory_.path()});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  server->pid_ = fork();
  if (server->pid_ == 0) become_server(arguments);
  const TimePoint give_up_at = BootClock::now() + 30s;
  while (!server->answers()) {
    const bool ended = waitpid(server->pid_, nullptr, WNOHANG) != 0;
    if (ended) server->pid_ = -1;
    if (!ended && BootClock::now() < give_up_at) {
      const timespec pause{.tv_sec = 0, .tv_nsec = 2'000'000};
      nanosleep(&pause, nullptr);
      continue;
    }
    return Unexpected{Error{Errc::unavailable,
                            "no redis-server could be started",
                            "install Redis, for example: apt-get install redis-server"}};
  }
  return server;
}

RedisServer::~RedisServer() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

bool RedisServer::answers() const { return BareClient::connect(port_).has_value(); }

}  // namespace holdfast::bench
