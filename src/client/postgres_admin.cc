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
using postgres::Rights;

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

Task<Result<void>> grant_all(PostgresPort& port,
                             std::vector<std::string> roles,
                             Rights rights,
                             TimePoint answer_by) {
  for (const std::string& role : roles) {
    auto granted = co_await postgres::grant_schema(port, role, rights, answer_by);
    if (!granted) co_return granted;
  }
  co_return Result<void>{};
}

Task<Result<InstalledSchema>> install(PostgresPort& port,
                                      PostgresInstallation installation,
                                      TimePoint answer_by) {
  const auto facts = co_await postgres::install_schema(port, answer_by);
  if (!facts) co_return Unexpected{facts.error()};
  const auto exposed = co_await postgres::expose_schema(port, installation.names_in, answer_by);
  if (!exposed) co_return Unexpected{exposed.error()};
  const auto granted = co_await grant_all(port, installation.roles, Rights::application, answer_by);
  if (!granted) co_return Unexpected{granted.error()};
  const auto trusted = co_await grant_all(port, installation.operators, Rights::operate, answer_by);
  if (!trusted) co_return Unexpected{trusted.error()};
  co_return InstalledSchema{.version = facts->version, .identity = facts->identity};
}

}  // namespace

Result<InstalledSchema> install_postgres(std::string_view url,
                                         const PostgresInstallation& installation) {
  return on_the_server<InstalledSchema>(url, [&](PostgresPort& port, TimePoint answer_by) {
    return install(port, installation, answer_by);
  });
}

std::string postgres_installation_sql(const PostgresInstallation& installation) {
  std::string text = "BEGIN;\n" + postgres::schema_script();
  text += postgres::expose_script(installation.names_in);
  for (const std::string& role : installation.roles) {
    text += postgres::grant_script(role, Rights::application);
  }
  for (const std::string& role : installation.operators) {
    text += postgres::grant_script(role, Rights::operate);
  }
  return text + "COMMIT;\n";
}

Result<void> uninstall_postgres(std::string_view url, StandingLeases standing) {
  const auto how =
      standing == StandingLeases::refuse ? postgres::Standing::refuse : postgres::Standing::ignore;
  return on_the_server<void>(url, [how](PostgresPort& port, TimePoint answer_by) {
    return postgres::uninstall_schema(port, how, answer_by);
  });
}

std::string postgres_removal_sql() {
  return "BEGIN;\n" + postgres::uninstall_script() + "COMMIT;\n";
}

}  // namespace holdfast
