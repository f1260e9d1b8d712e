#include "client/open_postgres.h"

#include <future>
#include <utility>

#include "client/shown_postgres_url.h"
#include "core/holder_note.h"
#include "core/session_backend.h"
#include "engines/postgres/advisory/advisory_desk.h"
#include "engines/postgres/advisory/advisory_engine.h"
#include "engines/postgres/driver/postgres_driver.h"
#include "engines/postgres/driver/postgres_url.h"
#include "engines/postgres/postgres_desk.h"
#include "engines/postgres/postgres_engine.h"
#include "engines/postgres/postgres_limits.h"
#include "engines/postgres/schema/schema.h"
#include "engines/postgres/store/postgres_store.h"
#include "runtime/asio_env.h"

namespace holdfast {
namespace {

using postgres::PostgresPort;
using postgres::PostgresUrl;

struct Database {
  std::shared_ptr<PostgresPort> port;
  std::string identity;
  PostgresPort::Direct direct{PostgresPort::Direct::unknown};
};

using Met = std::promise<Result<Database>>;

Task<void> ask_schema(Env& env,
                      std::shared_ptr<PostgresPort> port,
                      Millis timeout,
                      std::shared_ptr<Met> answer) {
  const auto schema = co_await postgres::ensure_schema(*port, env.now() + timeout);
  if (!schema) {
    answer->set_value(Unexpected{schema.error()});
  } else {
    answer->set_value(Database{port, schema->identity, port->direct()});
  }
}

/// Its schema says who a database is. A replica that is promoted keeps it, and a dump that is
/// restored.
Result<Database> meet(runtime::AsioEnv& env, const PostgresUrl& url) {
  auto driver = postgres::PostgresDriver::create(env, url.target);
  if (!driver) return Unexpected{std::move(driver).error()};
  const auto answer = std::make_shared<Met>();
  auto answered = answer->get_future();
  env.spawn(ask_schema(env, *std::move(driver), url.timeout, answer));
  return answered.get();
}

Result<void> check_mode(const PostgresUrl& url) {
  if (url.mode == postgres::Mode::lease || url.mode == postgres::Mode::advisory) return {};
  return Unexpected{
      Error{Errc::unsupported,
            "locks of this mode live in a transaction of yours, so that no URL can open them",
            "call the functions of holdfast/postgres.h with your connection, or use mode=lease"}};
}

Result<void> check_sessions(const PostgresUrl& url, const Database& database) {
  if (url.mode != postgres::Mode::advisory) return {};
  if (database.direct != PostgresPort::Direct::no) return {};
  return Unexpected{
      Error{Errc::unsupported,
            "there is a pooler between, and a session's advisory locks would be left to strangers",
            "connect to the server itself, name it by listen=, add pooler=session if the pooler "
            "gives a server connection to every session, or use mode=lease"}};
}

core::StoreOpener store_opener(Env& env, const Database& database, const PostgresUrl& url) {
  postgres::StoreSettings settings{.prefix = url.prefix, .timeout = url.timeout};
  settings.who = core::encode_note(core::make_note({}, {}));
  return [&env, port = database.port, settings = std::move(settings)] {
    return Result<std::shared_ptr<StoreBackend>>{
        std::make_shared<postgres::PostgresStore>(env, port, settings)};
  };
}

core::SessionSettings session_settings(const PostgresUrl& url, const Database& database) {
  const bool lease = url.mode == postgres::Mode::lease;
  core::SessionSettings session{
      .url = shown_postgres_url(url),
      // Locks of one mode do not keep out those of another.
      .domain = "postgres:" + database.identity + (lease ? "/lease/" : "/advisory/") + url.prefix,
      .can = {.shared = true,
              .permits = lease,
              .fifo = true,
              .detached = lease,
              .lock_delay = lease,
              .watch = true,
              .store = true},
      .timeout = url.timeout};
  if (!lease) session.why_not_more = "an advisory lock belongs to a session of the server's";
  if (database.direct == PostgresPort::Direct::no) {
    session.why_unheard = Error{Errc::unsupported,
                                "there is a pooler between, which passes no notifications on",
                                "name the server itself by listen= in the URL"};
  }
  return session;
}

void add_advisory(core::SessionParts& parts,
                  Env& env,
                  const Database& database,
                  const PostgresUrl& url) {
  const postgres::advisory::Settings settings{
      .prefix = url.prefix, .timeout = core::attempt_timeout(url.timeout), .patience = url.timeout};
  parts.engine = std::make_shared<postgres::advisory::AdvisoryEngine>(env, database.port, settings);
  parts.desk = std::make_shared<postgres::advisory::AdvisoryDesk>(env, database.port, settings);
}

void add_lease(core::SessionParts& parts,
               Env& env,
               const Database& database,
               const PostgresUrl& url) {
  const postgres::Settings settings{
      .prefix = url.prefix, .timeout = core::attempt_timeout(url.timeout), .patience = url.timeout};
  const auto engine = std::make_shared<postgres::PostgresEngine>(env, database.port, settings);
  parts.engine = engine;
  parts.desk = std::make_shared<postgres::PostgresDesk>(env, database.port, engine, url.prefix);
}

}  // namespace

Result<std::shared_ptr<Backend>> open_postgres(std::string_view url) {
  const auto parsed = postgres::parse_postgres_url(url);
  if (!parsed) return Unexpected{parsed.error()};
  if (const auto known = check_mode(*parsed); !known) return Unexpected{known.error()};
  auto env = runtime::AsioEnv::create();
  if (!env) return Unexpected{std::move(env).error()};
  const auto database = meet(**env, *parsed);
  if (!database) return Unexpected{database.error()};
  const auto possible = check_sessions(*parsed, *database);
  if (!possible) return Unexpected{possible.error()};

  core::SessionParts parts{
      .env = nullptr,
      .engine = nullptr,
      .desk = nullptr,
      .open_store = store_opener(**env, *database, *parsed),
      .limits = std::make_shared<postgres::PostgresLimits>(database->port, parsed->prefix)};
  if (parsed->mode == postgres::Mode::advisory) {
    add_advisory(parts, **env, *database, *parsed);
  } else {
    add_lease(parts, **env, *database, *parsed);
  }
  parts.env = *std::move(env);
  return std::shared_ptr<Backend>{
      core::SessionBackend::start(std::move(parts), session_settings(*parsed, *database))};
}

}  // namespace holdfast
