#include "client/postgres_admin.h"

#include <future>
#include <memory>
#include <optional>
#include <utility>

#include "engines/postgres/driver/postgres_driver.h"
#include "engines/postgres/driver/postgres_url.h"
#include "engines/postgres/schema/schema.h"
#include "runtime/asio_env.h"

namespace holdfast {
namespace {

using postgres::PostgresPort;

template <class Value>
using Answer = std::shared_ptr<std::promise<Result<Value>>>;

template <class Value>
Task<void> answer_with(Task<Result<Value>> task, Answer<Value> answer) {
  std::optional<Result<Value>> result;
  {
    Task<Result<Value>> done = std::move(task);
    auto value = co_await std::move(done);
    result.emplace(std::move(value));
  }
  answer->set_value(*std::move(result));
}

/// Does on the Env's thread what `begin` makes a task of, and waits.
template <class Value, class Begin>
Result<Value> on_the_server(std::string_view url, Begin begin) {
  const auto parsed = postgres::parse_postgres_url(url);
  if (!parsed) return Unexpected{parsed.error()};
  auto env = runtime::AsioEnv::create();
  if (!env) return Unexpected{std::move(env).error()};
  auto driver = postgres::PostgresDriver::create(**env, parsed->target);
  if (!driver) return Unexpected{std::move(driver).error()};
  const auto answer = std::make_shared<std::promise<Result<Value>>>();
  auto later = answer->get_future();
  const TimePoint answer_by = (*env)->now() + parsed->timeout;
  (*env)->spawn(answer_with<Value>(begin(**driver, answer_by), answer));
  return later.get();
}

postgres::Installation to_installation(const PostgresInstallation& wanted) {
  return {.names_in = wanted.names_in, .roles = wanted.roles, .operators = wanted.operators};
}

Task<Result<InstalledSchema>> install(PostgresPort& port,
                                      postgres::Installation installation,
                                      TimePoint answer_by) {
  auto installing = postgres::install_schema(port, std::move(installation), answer_by);
  const auto facts = co_await std::move(installing);
  if (!facts) co_return Unexpected{facts.error()};
  co_return InstalledSchema{.version = facts->version, .identity = facts->identity};
}

}  // namespace

Result<InstalledSchema> install_postgres(std::string_view url,
                                         const PostgresInstallation& installation) {
  return on_the_server<InstalledSchema>(url, [&](PostgresPort& port, TimePoint answer_by) {
    return install(port, to_installation(installation), answer_by);
  });
}

std::string postgres_installation_sql(const PostgresInstallation& installation) {
  return postgres::installation_script(to_installation(installation));
}

Result<void> uninstall_postgres(std::string_view url, StandingLeases standing) {
  const auto how =
      standing == StandingLeases::refuse ? postgres::Standing::refuse : postgres::Standing::ignore;
  return on_the_server<void>(url, [how](PostgresPort& port, TimePoint answer_by) {
    return postgres::uninstall_schema(port, how, answer_by);
  });
}

std::string postgres_removal_sql() { return postgres::uninstall_script(); }

}  // namespace holdfast
