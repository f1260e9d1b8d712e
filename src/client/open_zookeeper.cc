#include "client/open_zookeeper.h"

#include <future>
#include <utility>

#include "client/shown_zookeeper_url.h"
#include "core/holder_note.h"
#include "core/session_backend.h"
#include "engines/zookeeper/driver/zookeeper_driver.h"
#include "engines/zookeeper/driver/zookeeper_url.h"
#include "engines/zookeeper/store/ensemble_identity.h"
#include "engines/zookeeper/store/zookeeper_limits.h"
#include "engines/zookeeper/store/zookeeper_store.h"
#include "engines/zookeeper/zookeeper_desk.h"
#include "engines/zookeeper/zookeeper_engine.h"
#include "runtime/asio_env.h"

namespace holdfast {
namespace {

using zookeeper::StoreLine;
using zookeeper::ZookeeperPort;
using zookeeper::ZookeeperUrl;

struct Ensemble {
  std::shared_ptr<ZookeeperPort> port;
  /// For what needs no session of its own.
  std::shared_ptr<StoreLine> line;
  std::string identity;
};

using Named = std::promise<Result<std::string>>;

Task<void> ask_identity(Env& env,
                        std::shared_ptr<StoreLine> line,
                        ZookeeperUrl url,
                        std::shared_ptr<Named> answer) {
  const zookeeper::Nodes nodes{url.prefix};
  const std::string fresh = env.fresh_owner().fingerprint();
  const TimePoint answer_by = env.now() + url.timeout;
  auto name = co_await zookeeper::identity_of(env, *line, nodes, fresh, answer_by);
  // Many clients never use the store: its session would be kept for nothing.
  line->rest();
  answer->set_value(std::move(name));
}

Result<Ensemble> meet(runtime::AsioEnv& env, const ZookeeperUrl& url) {
  Ensemble ensemble;
  ensemble.port = std::make_shared<zookeeper::ZookeeperDriver>(env, url.target);
  ensemble.line = StoreLine::create(env, ensemble.port);
  const auto answer = std::make_shared<Named>();
  auto answered = answer->get_future();
  env.spawn(ask_identity(env, ensemble.line, url, answer));
  auto name = answered.get();
  if (!name) return Unexpected{std::move(name).error()};
  ensemble.identity = *std::move(name);
  return ensemble;
}

core::StoreOpener store_opener(Env& env, const Ensemble& ensemble, const ZookeeperUrl& url) {
  zookeeper::StoreSettings settings{
      .prefix = url.prefix, .domain = "zookeeper:" + ensemble.identity, .timeout = url.timeout};
  settings.who = core::encode_note(core::make_note({}, {}));
  return [&env, line = ensemble.line, settings = std::move(settings)] {
    return Result<std::shared_ptr<StoreBackend>>{
        std::make_shared<zookeeper::ZookeeperStore>(env, line, settings)};
  };
}

std::shared_ptr<core::LimitDesk> limits_of(Env& env,
                                           const Ensemble& ensemble,
                                           const ZookeeperUrl& url) {
  return std::make_shared<core::LeasedLimits>(
      env, std::make_shared<zookeeper::ZookeeperLimits>(env, ensemble.line, url.prefix));
}

}  // namespace

Result<std::shared_ptr<Backend>> open_zookeeper(std::string_view url) {
  auto parsed = zookeeper::parse_zookeeper_url(url);
  if (!parsed) return Unexpected{std::move(parsed).error()};
  auto env = runtime::AsioEnv::create();
  if (!env) return Unexpected{std::move(env).error()};
  const auto ensemble = meet(**env, *parsed);
  if (!ensemble) return Unexpected{ensemble.error()};

  const zookeeper::Settings settings{.prefix = parsed->prefix,
                                     .layout = parsed->layout,
                                     .timeout = core::attempt_timeout(parsed->timeout),
                                     .patience = parsed->timeout};
  core::SessionSettings session{
      .url = shown_zookeeper_url(*parsed),
      .domain = "zookeeper:" + ensemble->identity,
      .can = {.shared = true,
              .permits = true,
              .fifo = true,
              .detached = true,
              .lock_delay = false,
              .watch = true,
              .store = true},
      .why_not_more = "ZooKeeper ends a session and with it the lock in one step",
      .timeout = parsed->timeout};
  core::SessionParts parts{
      .env = nullptr,
      .engine = std::make_shared<zookeeper::ZookeeperEngine>(**env, ensemble->port, settings),
      .desk = std::make_shared<zookeeper::ZookeeperDesk>(**env, ensemble->port, settings),
      .open_store = store_opener(**env, *ensemble, *parsed),
      .limits = limits_of(**env, *ensemble, *parsed)};
  parts.env = *std::move(env);
  return std::shared_ptr<Backend>{
      core::SessionBackend::start(std::move(parts), std::move(session))};
}

}  // namespace holdfast
