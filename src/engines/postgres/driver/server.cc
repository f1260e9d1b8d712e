#include "engines/postgres/driver/server.h"

#include <algorithm>
#include <utility>

namespace holdfast::postgres {
namespace {

using std::chrono::seconds;

/// What the user has not said.
void add_ours(Parameters& parameters, const Parameters& all, Duration vanished_after) {
  const auto whole =
      std::max<std::int64_t>(2, std::chrono::duration_cast<seconds>(vanished_after).count());
  parameters.try_emplace("fallback_application_name", "holdfast");
  parameters.try_emplace("client_encoding", "UTF8");
  parameters.try_emplace("keepalives_idle", std::to_string(whole / 2));
  parameters.try_emplace("keepalives_interval",
                         std::to_string(std::max<std::int64_t>(1, whole / 4)));
  parameters.try_emplace("keepalives_count", "2");
  parameters.try_emplace("tcp_user_timeout", std::to_string(whole * 1000));
  // It would ask the network for a ticket first. Whoever wants it says so.
  const auto encryption = all.find("gssencmode");
  if (encryption != all.end() && encryption->second == "prefer") {
    parameters.try_emplace("gssencmode", "disable");
  }
}

}  // namespace

std::string Server::text() const {
  std::string all;
  for (const Host& host : hosts) all += (all.empty() ? "" : ",") + host.text();
  return all;
}

Result<std::shared_ptr<Server>> Server::create(runtime::AsioEnv& env,
                                               const PostgresTarget& target,
                                               const Parameters& parameters,
                                               const PostgresDriverSettings& settings) {
  const auto all = with_defaults(parameters);
  if (!all) return Unexpected{all.error()};
  auto hosts = hosts_of(*all);
  if (!hosts) return Unexpected{hosts.error()};
  Parameters ours = parameters;
  for (const char* keyword : {"host", "hostaddr", "port"}) ours.erase(keyword);
  add_ours(ours, *all, settings.vanished_after);
  // Locks are written.
  if (hosts->size() > 1) ours.try_emplace("target_session_attrs", "read-write");
  return std::make_shared<Server>(Server{.env = env,
                                         .settings = settings,
                                         .pooling = target.pooling,
                                         .connect_timeout = target.connect_timeout,
                                         .parameters = std::move(ours),
                                         .hosts = *std::move(hosts)});
}

}  // namespace holdfast::postgres
