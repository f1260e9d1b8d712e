#include "engines/etcd/driver/route.h"

#include <algorithm>
#include <utility>

#include "engines/etcd/driver/wire.h"

namespace holdfast::etcd {
namespace {

/// How long one of several endpoints may take to answer the greeting.
constexpr Duration kGreetingMax = std::chrono::seconds{1};

/// An endpoint that says nothing for so long is doubtful, as is one that lets so many requests
/// wait.
constexpr Duration kSilence = std::chrono::milliseconds{250};
constexpr int kOverdueMax = 3;

/// To refuse somebody costs a server more than to be away.
constexpr BackoffPolicy kAfterRefusal{.max = std::chrono::seconds{5}};

}  // namespace

Route::Route(Env& env,
             const EtcdTarget& target,
             const Credentials& credentials,
             const EtcdDriverSettings& settings,
             CompletionLoop& loop,
             Cancellables& calls)
    : env_{env},
      loop_{loop},
      calls_{calls},
      backoff_{settings.backoff},
      patience_{target.endpoints.size() == 1 ? target.connect_timeout
                                             : std::min(target.connect_timeout, kGreetingMax)},
      user_{target.user},
      password_{target.password},
      pause_timer_{env, [this] { on_pause_over(); }} {
  for (const Endpoint& endpoint : target.endpoints) {
    const std::string name = endpoint.text();
    sites_.push_back({name, make_channel(endpoint, target, credentials, settings.ping_every)});
    sites_.back().error = error_at(name, Errc::unavailable, "no answer in time");
  }
}

void Route::want() {
  if (state_ == State::idle) greet();
}

bool Route::is_wanted() const {
  return std::ranges::any_of(users_, [](const RouteUser* user) { return user->wants(); });
}

Request::Attempt Route::attempt() const { return attempt_at(current_); }

Request::Attempt Route::attempt_at(std::size_t number) const {
  return {.channel = sites_[number].channel,
          .endpoint = sites_[number].name,
          .visit = visit_,
          .token_number = token_number_,
          .now = env_.now()};
}

void Route::sign(grpc::ClientContext& context) const {
  context.AddMetadata("hasleader", "true");
  if (!token_.empty()) context.AddMetadata("token", token_);
}

std::unique_ptr<Request> Route::make_greeting() {
  const TimePoint by = env_.now() + patience_;
  if (has_credentials() && is_auth_on_ && token_.empty()) {
    wire::AuthenticateRequest who;
    who.set_name(user_);
    who.set_password(password_);
    struct OnToken {
      Route* route;
      void operator()(wire::AuthenticateResponse& answer) {
        route->token_ = std::move(*answer.mutable_token());
        ++route->token_number_;
        route->arrive();
      }
      void operator()(const Error&) {}
    };
    return make_request<wire::AuthenticateResponse>(
        *this, by, kAuthenticateMethod, std::move(who), OnToken{this});
  }
  struct OnStatus {
    Route* route;
    void operator()(wire::StatusResponse& answer) {
      if (answer.leader() != 0) return route->arrive();
      const std::string& name = route->sites_[route->current_].name;
      route->fail_here({Failure::Fate::not_run,
                        error_at(name, Errc::unavailable, "no leader"),
                        Failure::Endpoint::doubtful});
    }
    void operator()(const Error&) {}
  };
  return make_request<wire::StatusResponse>(
      *this, by, kStatusMethod, wire::StatusRequest{}, OnStatus{this});
}

void Route::greet() {
  state_ = State::greeting;
  grpc::experimental::ChannelResetConnectionBackoff(sites_[current_].channel.get());
  auto greeting = make_greeting();
  grpc::ClientContext& context = greeting->prepare(attempt());
  context.AddMetadata("hasleader", "true");
  calls_.push_back(*greeting);
  Request::begin(std::move(greeting), loop_.queue());
}

void Route::ended(std::unique_ptr<Request> greeting) {
  if (greeting->status().ok()) return greeting->succeed();
  Failure failure = greeting->failure();
  const bool auth_is_off =
      failure.error.message.find("authentication is not enabled") != std::string::npos;
  if (auth_is_off) {
    is_auth_on_ = false;
    return greet();
  }
  // A greeting changes nothing, whether it was heard or not.
  if (failure.error.code == Errc::unknown_outcome) failure.error.code = Errc::unavailable;
  fail_here(failure);
}

void Route::arrive() {
  state_ = State::ready;
  if (!is_renewing_) ++visit_;
  is_renewing_ = false;
  tried_ = 0;
  rounds_ = 0;
  for (RouteUser* user : users_) {
    if (is_ready()) user->on_ready();
  }
}

void Route::fail_here(const Failure& failure) {
  if (failure.fate == Failure::Fate::refused || failure.fate == Failure::Fate::token) {
    return give_up(failure.error);
  }
  is_renewing_ = false;
  sites_[current_].error = failure.error;
  sites_[current_].is_lasting = failure.fate == Failure::Fate::not_here;
  go_on_to_next();
  if (++tried_ < sites_.size()) return greet();
  end_round();
}

void Route::end_round() {
  tried_ = 0;
  const bool is_lasting = std::ranges::all_of(sites_, &Site::is_lasting);
  if (!is_lasting) return pause(backoff_);
  Error why = why_not();
  why.code = sites_.front().error.code;
  give_up(why);
}

void Route::give_up(const Error& why) {
  pause(kAfterRefusal);
  for (RouteUser* user : users_) user->on_refused(why);
}

void Route::pause(const BackoffPolicy& policy) {
  state_ = State::pausing;
  pause_until_ = env_.now() + backoff_delay(policy, rounds_, env_.draw());
  ++rounds_;
  pause_timer_.set(pause_until_);
}

void Route::on_pause_over() {
  if (state_ != State::pausing || !loop_.is_open()) return;
  if (env_.now() < pause_until_) return pause_timer_.set(pause_until_);
  state_ = State::idle;
  if (is_wanted()) greet();
}

void Route::doubt(std::uint64_t visit, const Error& why) {
  if (!is_ready() || visit != visit_) return;
  sites_[current_].error = why;
  sites_[current_].is_lasting = false;
  overdue_ = 0;
  state_ = State::idle;
  go_on_to_next();
  // Endpoints that greet well and then fail are not asked again without a pause.
  if (++doubts_ > sites_.size()) pause(backoff_);
  for (RouteUser* user : users_) user->on_moved(why);
  if (state_ == State::idle && is_wanted()) greet();
}

void Route::overdue(std::uint64_t visit, TimePoint sent, const Error& why) {
  if (!is_ready() || visit != visit_) return;
  const bool is_silent = env_.now() - std::max(last_heard_, sent) >= kSilence;
  if (!is_silent && ++overdue_ < kOverdueMax) return;
  doubt(visit, why);
}

void Route::renew_token(std::uint64_t number) {
  if (!is_ready() || number != token_number_) return;
  token_.clear();
  is_auth_on_ = true;
  is_renewing_ = true;
  greet();
}

Error Route::why_not() const {
  Error error{Errc::unavailable, "etcd"};
  if (sites_.size() == 1) {
    error.message = sites_.front().error.message;
  } else {
    error.message = "no endpoint of etcd can be used";
    for (const Site& site : sites_) {
      error.message += (&site == &sites_.front() ? ": " : "; ") + site.error.message;
    }
  }
  for (const Site& site : sites_) error.nodes.push_back({site.name, site.error.message});
  return error;
}

}  // namespace holdfast::etcd
