#include "tests/postgres/postgres_server.h"

#include <libpq-fe.h>
#include <signal.h>
#include <sys/shm.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>

#include "base/assert.h"
#include "base/secret.h"
#include "tests/postgres/process_family.h"
#include "tests/postgres/server_user.h"

namespace holdfast::postgres {
namespace {

void run_as_server_user(std::vector<std::string> command, const std::filesystem::path& log) {
  servers::run_to_end(as_server_user(std::move(command)), log);
}

std::string program(const std::string& name) {
  return std::string{HOLDFAST_POSTGRES_PROGRAMS} + '/' + name;
}

/// The data of a server that has never run: copying them is quicker than making them.
class Template {
 public:
  Template() {
    give_to_server_user(directory_.directory());
    run_as_server_user({program("initdb"),
                        "--pgdata=" + data().string(),
                        "--auth=trust",
                        "--username=postgres",
                        "--encoding=UTF8",
                        "--locale=C.UTF-8",
                        "--no-sync",
                        "--no-instructions"},
                       directory_.directory() / "log");
  }
  std::filesystem::path data() const { return directory_.directory() / "data"; }

 private:
  servers::ServerProcess directory_{"postgres-template"};
};

struct Finish {
  void operator()(PGconn* connection) const { PQfinish(connection); }
  void operator()(PGresult* result) const { PQclear(result); }
};

std::string lines_of(const PGresult* result) {
  std::string text;
  for (int row = 0; row < PQntuples(result); ++row) {
    if (row > 0) text += '\n';
    for (int column = 0; column < PQnfields(result); ++column) {
      if (column > 0) text += '|';
      text += PQgetvalue(result, row, column);
    }
  }
  return text;
}

std::string address(const std::filesystem::path& directory, std::uint16_t port) {
  return "host=" + directory.string() + " port=" + std::to_string(port) +
         " user=postgres connect_timeout=60 dbname=";
}

/// What a server that was killed has left in the system; nothing of one that was not.
void remove_shared_memory(const std::filesystem::path& data) {
  std::ifstream in{data / "postmaster.pid"};
  std::string line;
  // The seventh line has key and number.
  for (int i = 0; i < 7; ++i) std::getline(in, line);
  std::istringstream numbers{line};
  if (unsigned long key = 0, id = 0; numbers >> key >> id) {
    shmctl(static_cast<int>(id), IPC_RMID, nullptr);
  }
}

[[noreturn]] void fail(const std::string& sql, const char* why) {
  std::fprintf(stderr, "%s: %s\n", sql.c_str(), why);
  std::abort();
}

}  // namespace

PostgresServer::PostgresServer(PostgresSettings settings) : PostgresServer{settings, nullptr} {}

PostgresServer::PostgresServer(const PostgresSettings& settings, PostgresServer* primary) {
  give_to_server_user(directory());
  make_data(primary);
  write_hba(settings);
  if (settings.tls) install_tls(*settings.tls);
  process_.set_command(as_server_user(command(settings)));
  start();
  if (primary != nullptr) primary->wait_for_replica();
}

PostgresServer::~PostgresServer() {
  if (!stopped_.empty()) resume();
  // Rather than SIGKILL: it takes its shared memory with it.
  process_.end(SIGQUIT);
  remove_shared_memory(data());
}

void PostgresServer::make_data(const PostgresServer* primary) {
  const std::filesystem::path log = directory() / "making-log";
  if (primary != nullptr) {
    return run_as_server_user({program("pg_basebackup"),
                               "--host=" + primary->directory().string(),
                               "--port=" + std::to_string(primary->port()),
                               "--username=postgres",
                               "--pgdata=" + data().string(),
                               "--write-recovery-conf",
                               "--checkpoint=fast",
                               "--no-sync"},
                              log);
  }
  static const Template fresh;
  run_as_server_user({"/bin/cp", "-a", fresh.data().string(), data().string()}, log);
}

void PostgresServer::write_hba(const PostgresSettings& settings) const {
  std::ofstream out{data() / "pg_hba.conf"};
  out << "local all postgres trust\nlocal replication postgres trust\n";
  for (const std::string& line : settings.hba) out << line << '\n';
  if (settings.hba.empty()) out << "local all all trust\nhost all all all trust\n";
}

void PostgresServer::install_tls(const PostgresSettings::Tls& tls) const {
  const std::pair<std::string, const char*> files[] = {{tls.cert_file, "server.crt"},
                                                       {tls.key_file, "server.key"}};
  for (const auto& [from, name] : files) {
    std::filesystem::copy_file(from, data() / name);
    give_to_server_user(data() / name);
  }
}

std::vector<std::string> PostgresServer::command(const PostgresSettings& settings) const {
  std::vector<std::string> command{program("postgres"),
                                   "-D",
                                   data(),
                                   "-p",
                                   std::to_string(port_),
                                   "-k",
                                   directory(),
                                   "-c",
                                   "listen_addresses=127.0.0.1",
                                   "-c",
                                   // Goes with the directory, however it ends.
                                   "dynamic_shared_memory_type=mmap"};
  std::vector<std::string> lines;
  if (settings.durability == PostgresSettings::Durability::processes_only) {
    lines = {"fsync=off", "full_page_writes=off"};
  }
  if (settings.tls) lines.emplace_back("ssl=on");
  lines.insert(lines.end(), settings.lines.begin(), settings.lines.end());
  for (const std::string& line : lines) command.insert(command.end(), {"-c", line});
  return command;
}

std::string PostgresServer::url(const std::string& user, const std::string& database) const {
  return "postgres://" + user + '@' + endpoint() + '/' + database;
}

std::string PostgresServer::psql(const std::string& sql, const std::string& database) const {
  const std::string where = address(directory(), port_) + database;
  const std::unique_ptr<PGconn, Finish> connection{PQconnectdb(where.c_str())};
  if (PQstatus(connection.get()) != CONNECTION_OK) fail(sql, PQerrorMessage(connection.get()));
  PQsetNoticeProcessor(
      connection.get(), [](void*, const char*) {}, nullptr);
  const std::unique_ptr<PGresult, Finish> result{PQexec(connection.get(), sql.c_str())};
  const ExecStatusType status = PQresultStatus(result.get());
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
    fail(sql, PQresultErrorMessage(result.get()));
  }
  return lines_of(result.get());
}

std::string PostgresServer::create_database(std::string name) const {
  if (name.empty()) name = "test_" + fresh_owner().to_string();
  psql("CREATE DATABASE \"" + name + '"');
  return name;
}

void PostgresServer::start() {
  process_.start();
  const std::string where = address(directory(), port_) + "postgres";
  process_.wait_until([&] { return PQping(where.c_str()) == PQPING_OK; });
}

void PostgresServer::stop() { process_.end(SIGINT); }

void PostgresServer::restart() {
  if (is_running()) stop();
  start();
}

void PostgresServer::kill() {
  // Stopped first, so that it starts no further ones.
  if (!process_.is_paused()) process_.pause();
  const std::vector<pid_t> children = children_of(process_.pid());
  process_.end(SIGKILL);
  kill_all(children);
  stopped_.clear();
}

void PostgresServer::pause() {
  process_.pause();
  stopped_ = children_of(process_.pid());
  stop_all(stopped_);
}

void PostgresServer::resume() {
  continue_all(std::exchange(stopped_, {}));
  process_.resume();
}

void PostgresServer::promote() { HOLDFAST_ASSERT(psql("SELECT pg_promote(true, 60)") == "t"); }

void PostgresServer::wait_for_replica() {
  const std::string written = psql("SELECT pg_current_wal_lsn()");
  const std::string replayed = "SELECT coalesce(max(replay_lsn) >= '" + written +
                               "', false) FROM pg_stat_replication WHERE state = 'streaming'";
  process_.wait_until([&] { return psql(replayed) == "t"; });
}

}  // namespace holdfast::postgres
