#include "engines/redis/driver/routed_port.h"

#include <algorithm>
#include <utility>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

/// A request waits for a connection no longer before it is looked who is in charge.
constexpr Duration kAttempt = 500ms;

/// How long a look waits for answers.
constexpr Duration kLookPatienceMin = 50ms;
constexpr Duration kLookPatience = 1s;

constexpr BackoffPolicy kBetweenLooks{.first = 100ms, .max = 1s};
constexpr BackoffPolicy kBetweenAttempts{.first = 20ms, .max = 250ms};

/// So many redirections are followed at once.
constexpr std::uint32_t kAtOnce = 5;

bool says_nothing_yet(const Error& error) {
  return error.code == Errc::unavailable || error.code == Errc::unknown_outcome;
}

/// By its text: the server that takes a slot over has not seen the script, and is asked only once.
std::vector<std::string> eval_words(const ScriptCall& call) {
  std::vector<std::string> words{
      "EVAL", std::string{call.script->source}, std::to_string(call.keys.size())};
  words.insert(words.end(), call.keys.begin(), call.keys.end());
  words.insert(words.end(), call.args.begin(), call.args.end());
  return words;
}

}  // namespace

RoutedPort::RoutedPort(runtime::AsioEnv& env)
    : env_{env}, look_timer_{env, [this] { look_now(); }} {}

void RoutedPort::send(SharedCall call, TimePoint answer_by, OnAnswer on_answer) {
  forward(std::make_shared<Flight>(Flight{std::move(call), answer_by, std::move(on_answer)}));
}

void RoutedPort::forward(const SharedFlight& flight) {
  if (const Driver driver = in_charge(*flight->call)) {
    return send_to(driver, flight, Manner::plain);
  }
  look_soon();
  wait(flight, flight->answer_by);
}

// The callback keeps the driver, which may be out of charge before it has answered.
void RoutedPort::send_to(const Driver& driver, const SharedFlight& flight, Manner manner) {
  const auto weak = weak_from_this();
  auto on_answer = [weak, driver, flight](Result<Reply> reply) {
    if (const auto self = weak.lock()) self->answered(driver, flight, std::move(reply));
  };
  const TimePoint by = std::min(flight->answer_by, env_.now() + kAttempt);
  if (manner == Manner::plain) return driver->send(flight->call, by, std::move(on_answer));
  driver->command({"ASKING"}, by, [](const Result<Reply>&) {});
  driver->command(eval_words(*flight->call), by, std::move(on_answer));
}

void RoutedPort::answered(const Driver& driver, const SharedFlight& flight, Result<Reply> reply) {
  if (!reply) return failed(driver, flight, std::move(reply).error());
  const Redirection redirection = read_redirection(*reply);
  const bool in_time = env_.now() < flight->answer_by;
  if (redirection.kind == Redirection::Kind::none || !in_time) {
    return flight->on_answer(std::move(reply));
  }
  flight->failure = Error{Errc::unavailable, "Redis: " + reply->text};
  redirected(driver, flight, redirection);
}

void RoutedPort::failed(const Driver& driver, const SharedFlight& flight, Error error) {
  if (says_nothing_yet(error)) {
    distrust(*driver);
    look_soon();
  }
  if (error.code != Errc::unavailable || env_.now() >= flight->answer_by) {
    return flight->on_answer(Result<Reply>{Unexpected{std::move(error)}});
  }
  flight->failure = std::move(error);
  again_later(flight);
}

void RoutedPort::redirected(const Driver& driver, const SharedFlight& flight, Redirection to) {
  using Kind = Redirection::Kind;
  ++stats_.redirected;
  if (to.to.host.empty()) to.to.host = driver->target().host;
  if (to.kind == Kind::moved) moved(to);
  if (to.kind == Kind::later || to.kind == Kind::replaced) distrust(*driver);
  if (to.kind != Kind::ask) look_soon();
  const bool names_another = to.kind == Kind::moved || to.kind == Kind::ask;
  const Driver other = names_another && flight->attempts < kAtOnce ? at(to.to) : nullptr;
  if (!other) return again_later(flight);
  ++flight->attempts;
  send_to(other, flight, to.kind == Kind::ask ? Manner::asking : Manner::plain);
}

void RoutedPort::again_later(const SharedFlight& flight) {
  const Duration delay = backoff_delay(kBetweenAttempts, flight->attempts++, env_.draw());
  wait(flight, std::min(flight->answer_by, env_.now() + delay));
}

// Parked work is kept by the Env, so that it goes with it.
void RoutedPort::wait(const SharedFlight& flight, TimePoint until) {
  const auto id = std::make_shared<ParkingId>();
  Work resume = [&env = env_, weak = weak_from_this(), flight, id] {
    // Parked tasks are resumed while the Env counts them, which is no time to run anything.
    env.post([weak, flight, id] {
      const auto self = weak.lock();
      if (!self) return;
      self->waiting_.erase(*id);
      self->go_on(flight);
    });
  };
  *id = env_.park(until, Parked{std::move(resume)});
  waiting_.insert(*id);
}

void RoutedPort::go_on(const SharedFlight& flight) {
  const bool over = env_.now() >= flight->answer_by;
  const bool hopeless = failure_ && failure_->cause == Failure::Cause::lasting;
  if (!over && !hopeless) return forward(flight);
  Error error = failure_          ? failure_->error
                : flight->failure ? *flight->failure
                                  : Error{Errc::unavailable, "no Redis server answers"};
  // It never left.
  if (!hopeless) error.code = Errc::unavailable;
  flight->on_answer(Result<Reply>{Unexpected{std::move(error)}});
}

void RoutedPort::wake_all() {
  const std::set<ParkingId> all = waiting_;
  for (const ParkingId& id : all) env_.wake(id);
}

void RoutedPort::look_soon() {
  if (looking_) {
    look_again_ = true;
  } else {
    look_timer_.set(std::max(env_.now(), next_look_));
  }
}

void RoutedPort::look_now() {
  if (looking_) return;
  if (env_.now() < next_look_) return look_timer_.set(next_look_);
  looking_ = true;
  ++stats_.looks;
  // Before the first of those who wait gives up, so that it can be told what was found.
  const TimePoint now = env_.now();
  const Duration left = waiting_.empty() ? kLookPatience : waiting_.begin()->due - now;
  look(now + std::clamp(left * 3 / 4, kLookPatienceMin, kLookPatience));
}

void RoutedPort::found() {
  looking_ = false;
  failed_looks_ = 0;
  failure_.reset();
  next_look_ = env_.now() + kBetweenLooks.first;
  if (std::exchange(look_again_, false)) look_soon();
  wake_all();
}

void RoutedPort::not_found(Failure failure) {
  looking_ = false;
  next_look_ = env_.now() + backoff_delay(kBetweenLooks, failed_looks_++, env_.draw());
  failure_ = std::move(failure);
  const bool lasting = failure_->cause == Failure::Cause::lasting;
  if (std::exchange(look_again_, false) || (!lasting && !waiting_.empty())) look_soon();
  if (lasting) wake_all();
}

}  // namespace holdfast::redis
