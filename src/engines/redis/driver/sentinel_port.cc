#include "engines/redis/driver/sentinel_port.h"

#include <utility>

#include "engines/redis/driver/sentinel_reply.h"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

/// How long the server that the sentinels name is waited for.
constexpr Duration kVerifyPatience = 1s;

Failure unknown_master(const RedisTarget& sentinel, const std::string& name) {
  Error error = error_at(
      sentinel, Errc::invalid_argument, "the sentinel knows no master called '" + name + "'");
  error.remedy_text = "write redis+sentinel://host:port/NAME with a name it monitors";
  return {error, Failure::Cause::lasting};
}

}  // namespace

/// One look for the master.
struct SentinelPort::Look {
  explicit Look(std::size_t sentinels) : votes{sentinels} {}

  SentinelVotes votes;
  bool decided{false};
  std::optional<Failure> failure{};
};

Result<std::shared_ptr<SentinelPort>> SentinelPort::create(runtime::AsioEnv& env,
                                                           SentinelSettings settings) {
  std::vector<Driver> sentinels;
  for (const RedisTarget& target : settings.sentinels) {
    auto driver = RedisDriver::create(env, target, settings.driver);
    if (!driver) return Unexpected{std::move(driver).error()};
    sentinels.push_back(*std::move(driver));
  }
  return std::shared_ptr<SentinelPort>{
      new SentinelPort{env, std::move(settings), std::move(sentinels)}};
}

SentinelPort::SentinelPort(runtime::AsioEnv& env,
                           SentinelSettings settings,
                           std::vector<Driver> sentinels)
    : RoutedPort{env}, settings_{std::move(settings)}, sentinels_{std::move(sentinels)} {}

SentinelPort::~SentinelPort() = default;

RoutedPort::Driver SentinelPort::in_charge(const ScriptCall&) { return master_; }

RoutedPort::Driver SentinelPort::at(const Address&) { return nullptr; }

void SentinelPort::moved(const Redirection&) {}

void SentinelPort::distrust(const RedisDriver&) {}

// Told by each of them when a failover is over.
void SentinelPort::watch_sentinels() {
  if (std::exchange(watching_, true)) return;
  for (const Driver& sentinel : sentinels_) {
    sentinel->subscribe("+switch-master", [weak = weak_from_this()](const Heard& heard) {
      const auto self = std::static_pointer_cast<SentinelPort>(weak.lock());
      if (!self || !heard.text.starts_with(self->settings_.master_name + ' ')) return;
      self->look_soon();
    });
  }
}

void SentinelPort::look(TimePoint by) {
  watch_sentinels();
  const auto look = std::make_shared<Look>(sentinels_.size());
  for (const Driver& sentinel : sentinels_) {
    auto on_answer = [weak = weak_from_this(), look, sentinel](Result<Reply> address) {
      const auto self = std::static_pointer_cast<SentinelPort>(weak.lock());
      if (self) self->told(look, sentinel, std::move(address));
    };
    sentinel->command(
        {"SENTINEL", "GET-MASTER-ADDR-BY-NAME", settings_.master_name}, by, std::move(on_answer));
  }
}

void SentinelPort::told(const std::shared_ptr<Look>& look,
                        const Driver& sentinel,
                        Result<Reply> address) {
  const auto vote = address ? read_master_address(*address) : std::nullopt;
  look->votes.count(vote);
  if (!vote) {
    const RedisTarget& target = sentinel->target();
    if (!address) {
      look->failure = failure_of(address.error());
    } else if (address->kind == Reply::Kind::error) {
      look->failure =
          Failure{error_at(target, Errc::denied, address->text), Failure::Cause::lasting};
    } else {
      look->failure = unknown_master(target, settings_.master_name);
    }
  }
  if (!look->decided) decide(look);
}

void SentinelPort::decide(const std::shared_ptr<Look>& look) {
  const auto winner = look->votes.winner();
  if (!winner && !look->votes.complete()) return;
  look->decided = true;
  if (winner) return verify(look, *winner);
  not_found(*look->failure);
}

// A sentinel may not have noticed yet that the server is a replica now.
void SentinelPort::verify(const std::shared_ptr<Look>&, const Address& address) {
  Driver candidate = master_ && master_->target().address() == address ? master_ : nullptr;
  if (!candidate) {
    RedisTarget target = settings_.master;
    target.host = address.host;
    target.port = address.port;
    auto driver = RedisDriver::create(env(), std::move(target), settings_.driver);
    if (!driver) return not_found({std::move(driver).error(), Failure::Cause::lasting});
    candidate = *std::move(driver);
  }
  auto on_answer = [weak = weak_from_this(), candidate](const Result<Reply>& role) {
    const auto self = std::static_pointer_cast<SentinelPort>(weak.lock());
    if (!self) return;
    if (!role) return self->not_found(failure_of(role.error()));
    if (is_master(*role)) return self->adopt(candidate);
    const RedisTarget& target = candidate->target();
    if (role->text.starts_with("NOPERM")) {
      return self->not_found({error_at(target, Errc::denied, role->text), Failure::Cause::lasting});
    }
    self->not_found(passing_failure(target, "the sentinels' master is a replica"));
  };
  candidate->command({"ROLE"}, env().now() + kVerifyPatience, std::move(on_answer));
}

void SentinelPort::adopt(const Driver& master) {
  const Driver before = std::exchange(master_, master);
  if (before == master) return found();
  if (before) {
    since_ = env().now();
    ++counted().takeovers;
  }
  for (const auto& [channel, on_heard] : ears_) master->subscribe(channel, on_heard);
  found();
  if (before) before->retire();
}

TimePoint SentinelPort::in_charge_since(std::string_view) const { return since_; }

void SentinelPort::subscribe(std::string channel, OnHeard on_heard) {
  if (master_) master_->subscribe(channel, on_heard);
  ears_[std::move(channel)] = std::move(on_heard);
}

void SentinelPort::unsubscribe(const std::string& channel) {
  if (ears_.erase(channel) > 0 && master_) master_->unsubscribe(channel);
}

}  // namespace holdfast::redis
