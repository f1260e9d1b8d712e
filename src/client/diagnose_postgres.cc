#include "client/diagnose_postgres.h"

#include <chrono>
#include <future>
#include <utility>

#include "base/wall_clock.h"
#include "client/shown_postgres_url.h"
#include "engines/postgres/doctor/examine.h"
#include "engines/postgres/doctor/server_findings.h"
#include "engines/postgres/driver/postgres_driver.h"
#include "runtime/asio_env.h"

namespace holdfast {
namespace {

using postgres::ServerFacts;
using WallTime = std::chrono::system_clock::time_point;
using Examined = std::promise<Result<ServerFacts>>;

Task<void> examine(Env& env,
                   std::shared_ptr<postgres::PostgresDriver> driver,
                   postgres::Examination examination,
                   Millis timeout,
                   std::shared_ptr<Examined> answer) {
  const TimePoint answer_by = env.now() + timeout;
  auto facts = co_await postgres::examine(env, *driver, std::move(examination), answer_by);
  answer->set_value(std::move(facts));
}

}  // namespace

Result<Diagnosis> diagnose_postgres(std::string_view url) {
  const auto parsed = postgres::parse_postgres_url(url);
  if (!parsed) return Unexpected{parsed.error()};
  const auto env = runtime::AsioEnv::create();
  if (!env) return Unexpected{env.error()};
  const auto driver = postgres::PostgresDriver::create(**env, parsed->target);
  if (!driver) return Unexpected{driver.error()};
  const bool advisory = parsed->mode == postgres::Mode::advisory;
  postgres::Examination examination{
      .usage = advisory ? postgres::Usage::advisory : postgres::Usage::lease,
      .server = (*driver)->servers(),
      .wall_clock = [] { return WallTime{Millis{wall_ms()}}; }};
  const auto answer = std::make_shared<Examined>();
  auto answered = answer->get_future();
  (*env)->spawn(examine(**env, *driver, std::move(examination), parsed->timeout, answer));
  const auto facts = answered.get();
  if (!facts) return Unexpected{facts.error()};
  return Diagnosis{.engine = shown_postgres_url(*parsed),
                   .findings = postgres::findings_of(*facts)};
}

}  // namespace holdfast
