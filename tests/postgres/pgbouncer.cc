#include "tests/postgres/pgbouncer.h"

#include <libpq-fe.h>
#include <signal.h>

#include <fstream>

#include "tests/postgres/server_user.h"

namespace holdfast::postgres {

PgBouncer::PgBouncer(const PostgresServer& server, const Settings& settings) {
  const std::filesystem::path users = directory() / "users.txt";
  std::ofstream listed{users};
  for (const std::string& user : settings.users) listed << '"' << user << "\" \"\"\n";
  listed.close();

  const std::filesystem::path file = directory() / "pgbouncer.ini";
  std::ofstream out{file};
  out << "[databases]\n* = host=127.0.0.1 port=" << server.port()
      << "\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = " << port_
      << "\nunix_socket_dir =\nauth_type = trust\nauth_file = " << users.string()
      << "\npool_mode = " << settings.pool_mode
      << "\nserver_tls_sslmode = disable\n"
      // It would wait that long before it tries again to reach a server that was away.
      << "max_client_conn = 2000\nserver_login_retry = 1\n";
  for (const std::string& line : settings.lines) out << line << '\n';
  out.close();

  for (const auto& path : {directory(), users, file}) give_to_server_user(path);
  process_.set_command(as_server_user({HOLDFAST_PGBOUNCER, file}));
  start();
}

std::string PgBouncer::url(const std::string& user, const std::string& database) const {
  return "postgres://" + user + '@' + endpoint() + '/' + database;
}

void PgBouncer::kill() { process_.end(SIGKILL); }

void PgBouncer::start() {
  process_.start();
  const std::string where = "host=127.0.0.1 port=" + std::to_string(port_) + " sslmode=disable";
  process_.wait_until([&] { return PQping(where.c_str()) == PQPING_OK; });
}

}  // namespace holdfast::postgres
