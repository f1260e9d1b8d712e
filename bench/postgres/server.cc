#include "bench/postgres/server.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <vector>

#include "bench/postgres/bare_client.h"

namespace holdfast::bench {
namespace {

const std::string kPrograms = "/usr/lib/postgresql/15/bin/";
constexpr auto kHint = "install PostgreSQL, for example: apt-get install postgresql-15";

/// It refuses to run as root.
std::vector<std::string> as_somebody() {
  if (geteuid() != 0) return {};
  return {"setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"};
}

bool make_data(const std::string& directory) {
  std::string command;
  for (const std::string& word : as_somebody()) command += word + ' ';
  const std::string owned = geteuid() == 0 ? "chown postgres: " + directory + " && " : "";
  command = owned + command + kPrograms + "initdb -D " + directory + "/data -U postgres " +
            "--auth=trust --no-sync >/dev/null 2>&1";
  return std::system(command.c_str()) == 0;
}

}  // namespace

Result<std::unique_ptr<PostgresServer>> PostgresServer::start(Log log) {
  std::unique_ptr<PostgresServer> server{new PostgresServer};
  const std::string& directory = server->directory_.path();
  server->port_ = free_port();
  if (!make_data(directory)) {
    return Unexpected{Error{Errc::unavailable, "no PostgreSQL could be set up", kHint}};
  }
  std::vector<std::string> words = as_somebody();
  words.insert(words.end(), {kPrograms + "postgres", "-D", directory + "/data"});
  words.insert(words.end(), {"-p", std::to_string(server->port_), "-k", directory});
  words.insert(words.end(), {"-c", "max_connections=300", "-c", "logging_collector=on"});
  words.insert(words.end(), {"-c", "log_directory=" + directory, "-c", "log_filename=log"});
  if (log == Log::statements) words.insert(words.end(), {"-c", "log_statement=all"});
  const auto serves = [&] { return BarePostgres::connect(server->port_).has_value(); };
  const auto started = server->process_.start(std::move(words), serves, kHint);
  if (!started) return Unexpected{started.error()};
  return server;
}

std::string PostgresServer::url(const std::string& mode) const {
  return "postgres://postgres@127.0.0.1:" + std::to_string(port_) + "/postgres?mode=" + mode;
}

double PostgresServer::statements(const std::string& part) const {
  std::ifstream log{directory_.path() + "/log"};
  double count = 0;
  for (std::string line; std::getline(log, line);) {
    const bool ran = line.find("LOG:  execute ") != std::string::npos ||
                     line.find("LOG:  statement: ") != std::string::npos;
    if (ran && line.find(part) != std::string::npos) ++count;
  }
  return count;
}

}  // namespace holdfast::bench
