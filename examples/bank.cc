// Two tellers withdraw 80 of 100 from an account in PostgreSQL, and the first is paused between
// reading and writing for longer than its lease lasts. Without the fence both pay out; with it, the
// database refuses the one whose time is over.
//
//   bank postgres://user@host/database

#include <holdfast/client.h>
#include <holdfast/postgres.h>
#include <libpq-fe.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

namespace {

using Connection = std::unique_ptr<PGconn, decltype(&PQfinish)>;

enum class Fence { absent, present };
enum class Pause { none, after_reading };

constexpr const char* kResource = "hf/account";

/// The one value it answers, or nothing; ends the process when the database refuses.
std::string sql(PGconn* connection, const std::string& text) {
  const std::unique_ptr<PGresult, decltype(&PQclear)> result{PQexec(connection, text.c_str()),
                                                             &PQclear};
  const auto status = PQresultStatus(result.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
    std::cerr << PQresultErrorMessage(result.get());
    std::exit(2);
  }
  return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
}

Connection connect(const std::string& url) {
  Connection connection{PQconnectdb(url.c_str()), &PQfinish};
  if (PQstatus(connection.get()) == CONNECTION_OK) return connection;
  std::cerr << PQerrorMessage(connection.get());
  std::exit(2);
}

int fail(const holdfast::Error& error) {
  std::cout << "  refused: " << error.message << '\n';
  return 1;
}

/// Answers 0 when it has paid out.
int withdraw(const std::string& url, Fence fence, Pause pause) {
  auto client = holdfast::Client::connect(url);
  if (!client) return fail(client.error());
  auto lease = client->acquire("account", {.ttl = std::chrono::seconds{1}});
  if (!lease) return fail(lease.error());
  const auto holder = holdfast::parse_sequencer(lease->sequencer());
  if (!holder) return fail(holder.error());

  const Connection connection = connect(url);
  holdfast::postgres::LibpqTransaction transaction{connection.get()};
  if (fence == Fence::present) {
    sql(connection.get(), "BEGIN");  // open before you read
    const auto opened = holdfast::postgres::fence_open(transaction, kResource, *holder);
    if (!opened) return fail(opened.error());
    sql(connection.get(), "COMMIT");
  }
  const int balance = std::stoi(sql(connection.get(), "SELECT balance FROM bank_account"));
  if (balance < 80) {
    std::cout << "  not enough: " << balance << '\n';
    return 1;
  }
  if (pause == Pause::after_reading) std::raise(SIGSTOP);

  sql(connection.get(), "BEGIN");
  if (fence == Fence::present) {
    const auto checked = holdfast::postgres::fence_check(transaction, kResource, *holder, 1);
    if (!checked) return fail(checked.error());
  }
  sql(connection.get(), "UPDATE bank_account SET balance = " + std::to_string(balance - 80));
  sql(connection.get(), "COMMIT");
  std::cout << "  paid out 80 with token " << lease->token().value() << '\n';
  return 0;
}

pid_t teller(const std::string& url, Fence fence, Pause pause) {
  const pid_t child = fork();
  if (child != 0) return child;
  const int result = withdraw(url, fence, pause);
  std::cout.flush();
  _exit(result);
}

/// 80 or 0.
int paid_by(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 80 : 0;
}

int run(const std::string& url, Fence fence) {
  {
    const Connection connection = connect(url);
    sql(connection.get(),
        "SET client_min_messages = warning; DROP TABLE IF EXISTS bank_account; CREATE TABLE "
        "bank_account AS SELECT 100 AS balance");
  }
  const pid_t paused = teller(url, fence, Pause::after_reading);
  int status = 0;
  waitpid(paused, &status, WUNTRACED);
  // Its lease runs out; the second teller gets the lock then.
  const int second = paid_by(teller(url, fence, Pause::none));
  kill(paused, SIGCONT);
  return second + paid_by(paused);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string url = argc > 1 ? argv[1] : "postgres:///";
  for (const Fence fence : {Fence::absent, Fence::present}) {
    std::cout << (fence == Fence::absent ? "without" : "with") << " the fence" << std::endl;
    const int paid = run(url, fence);
    std::cout << "  of 100, " << paid << " were paid out" << std::endl;
  }
  return 0;
}
