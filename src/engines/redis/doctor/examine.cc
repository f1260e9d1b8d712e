#include "engines/redis/doctor/examine.h"
#include "engines/redis/driver/sentinel_reply.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <charconv>
#include <future>
#include <utility>

#include "base/wall_clock.h"

namespace holdfast::redis {
namespace {

constexpr int kRoundTrips = 7;

/// KEYS string, list, hash, stream; ARGV channel, how to publish there. `<command> <error>` of
/// everything that the server refuses of what the scripts of locks and store do.
constexpr Script kProbeScript{"probe", R"lua(
local refused = {}
local function try(command, ...)
  local answer = redis.pcall(command, ...)
  if type(answer) == 'table' and answer.err then
    refused[#refused + 1] = command .. ' ' .. answer.err
  end
end
try('SET', KEYS[1], '1', 'PX', 1000)
try('GET', KEYS[1])
try('EXISTS', KEYS[1], KEYS[2])
try('PTTL', KEYS[1])
try('PEXPIRE', KEYS[1], 1000)
try('TIME')
try('RPUSH', KEYS[2], 'a', 'b')
try('LPUSH', KEYS[2], 'c')
try('LINDEX', KEYS[2], 0)
try('LRANGE', KEYS[2], 0, 1)
try('LREM', KEYS[2], 1, 'b')
try('LTRIM', KEYS[2], 0, 1)
try('LPOP', KEYS[2])
try('HSET', KEYS[3], 'a', 'b')
try('HGET', KEYS[3], 'a')
try('HMGET', KEYS[3], 'a')
try('HGETALL', KEYS[3])
try('HLEN', KEYS[3])
try('HEXISTS', KEYS[3], 'a')
try('PEXPIREAT', KEYS[3], '99999999999999')
try('PERSIST', KEYS[3])
try('HDEL', KEYS[3], 'a')
try('XADD', KEYS[4], 'MAXLEN', 1, '*', 'a', 'b')
try(ARGV[2], ARGV[1], 'doctor')
try('SCAN', 0, 'COUNT', 1)
try('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[4])
return refused
)lua"};

/// The calls of one examination, one after the other.
class Examination {
 public:
  Examination(runtime::AsioEnv& env, std::shared_ptr<RedisDriver> driver, Millis timeout)
      : env_{env}, driver_{std::move(driver)}, timeout_{timeout} {}

  Result<Reply> command(std::vector<std::string> words) {
    return ask([this, words = std::move(words)](OnAnswer on_answer) {
      driver_->command(words, env_.now() + timeout_, std::move(on_answer));
    });
  }

  Result<Reply> script(ScriptCall call) {
    return ask([this, shared = share(std::move(call))](OnAnswer on_answer) {
      driver_->send(shared, env_.now() + timeout_, std::move(on_answer));
    });
  }

  /// Whether the server confirms a subscription.
  bool hears(const std::string& channel) {
    const auto heard = std::make_shared<std::promise<void>>();
    auto confirmed = heard->get_future();
    env_.post([this, channel, heard] {
      driver_->subscribe(channel, [heard, told = false](const Heard&) mutable {
        if (!std::exchange(told, true)) heard->set_value();
      });
    });
    const Millis patience = std::min(timeout_, Millis{1000});
    const bool in_time = confirmed.wait_for(patience) == std::future_status::ready;
    env_.post([driver = driver_, channel] { driver->unsubscribe(channel); });
    return in_time;
  }

 private:
  Result<Reply> ask(std::function<void(OnAnswer)> send) {
    const auto answer = std::make_shared<std::promise<Result<Reply>>>();
    auto answered = answer->get_future();
    env_.post([send = std::move(send), answer] {
      send([answer](Result<Reply> reply) { answer->set_value(std::move(reply)); });
    });
    return answered.get();
  }

  runtime::AsioEnv& env_;
  std::shared_ptr<RedisDriver> driver_;
  Millis timeout_;
};

bool stays_here(const RedisTarget& target) {
  if (!target.socket_path.empty() || target.host == "localhost") return true;
  boost::system::error_code is_name;
  const auto address = boost::asio::ip::make_address(target.host, is_name);
  return !is_name && address.is_loopback();
}

std::map<std::string, std::string, std::less<>> read_config(const Reply& reply) {
  std::map<std::string, std::string, std::less<>> config;
  for (std::size_t i = 0; i + 1 < reply.items.size(); i += 2) {
    config.emplace(reply.items[i].text, reply.items[i + 1].text);
  }
  return config;
}

std::int64_t number_of(const Reply& reply) {
  std::int64_t number = 0;
  std::from_chars(reply.text.data(), reply.text.data() + reply.text.size(), number);
  return number;
}

/// The calmest of several readings of the server's clock is the most exact one.
void read_clock(Examination& examination, NodeFacts& facts) {
  std::vector<Duration> round_trips;
  for (int i = 0; i < kRoundTrips; ++i) {
    const TimePoint sent_at = BootClock::now();
    const std::chrono::milliseconds wall_before{wall_ms()};
    const auto reply = examination.command({"TIME"});
    const Duration round_trip = BootClock::now() - sent_at;
    if (!reply || reply->items.size() != 2) return;
    const Duration server = std::chrono::seconds{number_of(reply->items[0])} +
                            std::chrono::microseconds{number_of(reply->items[1])};
    if (round_trips.empty() || round_trip < *std::ranges::min_element(round_trips)) {
      // The wall clock here is read in whole milliseconds.
      facts.clock_error = round_trip / 2 + std::chrono::milliseconds{1};
      facts.clock_ahead = server - (wall_before + round_trip / 2);
    }
    round_trips.push_back(round_trip);
  }
  std::ranges::sort(round_trips);
  facts.round_trip = round_trips[round_trips.size() / 2];
}

/// Servers of a cluster have sharded messages since Redis 7.
Spread spread_seen(Spread asked, const NodeFacts& facts) {
  if (asked == Spread::one_server) return asked;
  int major = 0;
  const std::string_view version = facts.info_of("redis_version");
  std::from_chars(version.data(), version.data() + version.size(), major);
  return major >= 7 ? Spread::sharded_cluster : Spread::cluster;
}

void read_rights(Examination& examination, const std::optional<Trial>& trial, NodeFacts& facts) {
  const auto user = examination.command({"ACL", "WHOAMI"});
  if (user && user->kind == Reply::Kind::text) facts.user = user->text;
  if (!trial) return;
  const Keys keys{facts.prefix, spread_seen(trial->spread, facts)};
  const LockName& name = trial->name;
  const std::string channel = keys.channel("probe", name);
  const auto probe = examination.script(
      {.script = &kProbeScript,
       .keys = {keys.lock(name), keys.queue(name), keys.waiters(name), keys.audit(name)},
       .args = {channel, Keys::stays_in_slot(channel) ? "SPUBLISH" : "PUBLISH"}});
  if (!probe) return;
  if (probe->kind == Reply::Kind::error) facts.refusals.push_back({"eval", probe->text});
  for (const Reply& refused : probe->items) {
    const auto space = refused.text.find(' ');
    std::string command = refused.text.substr(0, space);
    std::ranges::transform(
        command, command.begin(), [](char c) { return static_cast<char>(c + ('a' - 'A')); });
    facts.refusals.push_back({std::move(command), refused.text.substr(space + 1)});
  }
  facts.hears_messages = examination.hears(channel);
}

}  // namespace

std::optional<Trial> trial_at(const Address& master,
                              const SlotMap& map,
                              const std::string& prefix) {
  const Keys keys{prefix, Spread::cluster};
  // A prefix with braces puts every key into one slot: no number of tries finds another.
  for (int i = 0; i < 8 * kSlots; ++i) {
    LockName name{"\x01probe" + std::to_string(i)};
    if (map.master_of(keys.slot(name)) == master) return Trial{std::move(name), Spread::cluster};
  }
  return std::nullopt;
}

Result<NodeFacts> examine(runtime::AsioEnv& env,
                          const std::shared_ptr<RedisDriver>& driver,
                          const RedisUrl& url,
                          const std::optional<Trial>& trial) {
  Examination examination{env, driver, url.timeout};
  const RedisTarget& target = url.target;
  NodeFacts facts{.node = target.node(),
                  .prefix = url.prefix,
                  .path = {.stays_here = stays_here(target),
                           .encrypted = target.tls.has_value(),
                           .authenticated = !target.user.empty() || !target.password.empty()}};
  const auto info = examination.command({"INFO"});
  if (!info) return Unexpected{info.error()};
  if (info->kind == Reply::Kind::text) facts.info = read_info(info->text);
  const auto config = examination.command({"CONFIG", "GET", "*"});
  if (!config) return Unexpected{config.error()};
  facts.config = read_config(*config);
  read_clock(examination, facts);
  read_rights(examination, trial, facts);
  return facts;
}

Result<std::optional<std::string>> text_at(runtime::AsioEnv& env,
                                           const std::shared_ptr<RedisDriver>& driver,
                                           const std::string& key,
                                           Millis timeout) {
  const auto reply = Examination{env, driver, timeout}.command({"GET", key});
  if (!reply) return Unexpected{reply.error()};
  if (reply->kind != Reply::Kind::text) return std::optional<std::string>{};
  return std::optional{reply->text};
}

Result<std::optional<Address>> master_told_by(runtime::AsioEnv& env,
                                              const std::shared_ptr<RedisDriver>& sentinel,
                                              const std::string& name,
                                              Millis timeout) {
  const auto reply =
      Examination{env, sentinel, timeout}.command({"SENTINEL", "get-master-addr-by-name", name});
  if (!reply) return Unexpected{reply.error()};
  return read_master_address(*reply);
}

Result<SlotMap> slots_told_by(runtime::AsioEnv& env,
                              const std::shared_ptr<RedisDriver>& node,
                              const Address& asked,
                              Millis timeout) {
  const auto reply = Examination{env, node, timeout}.command({"CLUSTER", "SLOTS"});
  if (!reply) return Unexpected{reply.error()};
  auto map = SlotMap::read(*reply, asked);
  if (map) return *std::move(map);
  return Unexpected{Error{Errc::invalid_argument,
                          node->target().node() + " is no node of a Redis cluster",
                          "use redis:// for a single server"}};
}

}  // namespace holdfast::redis
