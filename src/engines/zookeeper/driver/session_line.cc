#include "engines/zookeeper/driver/session_line.h"

#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "engines/zookeeper/driver/failure.h"
#include "engines/zookeeper/driver/farewell.h"
#include "engines/zookeeper/driver/name_lookup.h"
#include "engines/zookeeper/driver/request_check.h"

namespace holdfast::zookeeper {
namespace {

/// The client gives a server two thirds of it to answer.
constexpr Millis kLeastTimeout{1000};

/// corrupt, if that is what all are; otherwise unavailable.
Error all_of(const std::map<std::string, Error>& failures) {
  Error all{Errc::corrupt, ""};
  for (const auto& [server, error] : failures) {
    if (error.code != Errc::corrupt) all.code = Errc::unavailable;
    all.message += (all.message.empty() ? "" : "; ") + error.message;
    all.nodes.push_back({server, error.message});
  }
  return all;
}

}  // namespace

DriverLine::DriverLine(std::shared_ptr<SessionContext> context, SessionAsk ask, OnEvent on_event)
    : ClientLoop{context->env,
                 {.connect_timeout = context->target.connect_timeout,
                  .backoff = context->settings.backoff}},
      context_{std::move(context)},
      ask_{std::move(ask)},
      on_event_{std::move(on_event)},
      deadline_timer_{context_->env, [this] { look_at_deadlines(); }} {}

DriverLine::~DriverLine() { end(); }

std::shared_ptr<DriverLine> DriverLine::self() {
  return std::static_pointer_cast<DriverLine>(shared_from_this());
}

void DriverLine::open() {
  std::string servers = servers_by_address(context_->target.endpoints);
  if (servers.empty()) return env().spawn(look_up_and_begin(self()));
  env().post([self = self(), servers = std::move(servers)] { self->begin_at(servers); });
}

Task<void> DriverLine::look_up_and_begin(std::shared_ptr<DriverLine> self) {
  for (std::uint32_t attempt = 0; !self->over_; ++attempt) {
    auto servers = co_await look_up_servers(self->env(), self->context_->target.endpoints);
    if (servers) {
      self->begin_at(*servers);
      co_return;
    }
    self->failures_["names"] = servers.error();
    const BackoffPolicy& backoff = self->context_->settings.backoff;
    co_await self->env().sleep_for(backoff_delay(backoff, attempt, self->env().draw()));
  }
}

void DriverLine::begin_at(const std::string& servers) {
  if (over_) return;
  const ZookeeperTarget& target = context_->target;
  const Millis timeout = std::max(ask_.timeout, kLeastTimeout);
  Opening opening{.servers = servers, .timeout = timeout, .resume = ask_.resume};
  if (!target.user.empty()) opening.credentials = target.user + ':' + target.password;
  begin(opening);
}

std::unique_ptr<Sending> DriverLine::fresh_sending() {
  Answered& owner = *this;
  return std::make_unique<Sending>(owner);
}

void DriverLine::send(SharedRequest request, TimePoint answer_by, OnAnswer on_answer) {
  auto sending = fresh_sending();
  sending->answer_by = answer_by;
  sending->on_answer = std::move(on_answer);
  sending->request = std::move(request);
  const ZookeeperTarget& target = context_->target;
  const auto checked =
      check_request(*sending->request, target.chroot, context_->settings.max_request);
  if (!checked) return answer_soon(std::move(sending), checked.error());
  if (over_) {
    Error lost = error_at(server(), Errc::lost, "the session is over");
    return answer_soon(std::move(sending), std::move(lost));
  }
  deadline_timer_.set(answer_by);
  waiting_.push_back(std::move(sending));
  flush_soon();
}

void DriverLine::flush_soon() {
  if (flush_posted_ || telling_) return;
  flush_posted_ = true;
  env().run_after_tasks([self = self()] {
    self->flush_posted_ = false;
    self->flush();
    self->tell();
  });
}

void DriverLine::flush() {
  if (client() == nullptr || !is_ready() || waiting_.empty()) return;
  {
    const Gathering gathering{*this};
    while (!waiting_.empty() && zoo_state(client()) == ZOO_CONNECTED_STATE) hand_over_front();
  }
  after_calls();
}

void DriverLine::hand_over_front() {
  if (sent_.empty()) silent_since_ = env().now();
  Sending& sending = *sent_.emplace_back(std::move(waiting_.front()));
  waiting_.pop_front();
  ++context_->requests;
  const int code = zookeeper::hand_over(client(), sending, context_->target);
  if (code == ZOK) return;
  auto refused = std::move(sent_.back());
  sent_.pop_back();
  Error error = failure_of(server(), code, path_of(*refused->request));
  news_.push_back(Told{std::move(refused), Unexpected{std::move(error)}});
}

void DriverLine::on_completion(Sending& sending, int code, Answer answer) {
  if (over_) return;
  silent_since_ = env().now();
  // Its place is the first, but for a defect of the client.
  const auto place =
      std::ranges::find(sent_, &sending, [](const auto& entry) { return entry.get(); });
  HOLDFAST_ASSERT(place != sent_.end());
  auto done = std::move(*place);
  sent_.erase(place);
  if (const auto verdict = verdict_of(code)) {
    answer.verdict = *verdict;
    news_.push_back(Told{std::move(done), shown(std::move(answer))});
  } else {
    Error error = failure_of(server(), code, path_of(*done->request));
    explain_size(error, bytes_of(*done->request, context_->target.chroot));
    news_.push_back(Told{std::move(done), Unexpected{std::move(error)}});
  }
}

Answer DriverLine::shown(Answer answer) const {
  const std::string& chroot = context_->target.chroot;
  if (chroot.empty()) return answer;
  answer.path = without(chroot, std::move(answer.path));
  for (Answer& step : answer.steps) step = shown(std::move(step));
  return answer;
}

void DriverLine::on_change(SessionEvent::Change change, std::string path) {
  if (over_) return;
  news_.push_back(SessionEvent{.kind = SessionEvent::Kind::changed,
                               .path = without(context_->target.chroot, std::move(path)),
                               .change = change});
}

void DriverLine::on_unwatch_failed(const std::string& path) {
  if (!over_) to_forget_.push_back(path);
}

void DriverLine::unwatch(const std::string& path) {
  if (over_ || client() == nullptr) return;
  for (const auto& sending : waiting_) {
    if (path_of(*sending->request) == path) sending->watch_dropped = true;
  }
  const std::string full = below(context_->target.chroot, path);
  if (!is_connected() || hand_over_unwatch(client(), full, *this) != ZOK) {
    return forget_watches(client(), full);
  }
  after_calls();
  tell_soon();
}

void DriverLine::connected() {
  failures_.clear();
  strangers_ = 0;
  silent_since_ = env().now();
  if (context_->target.chroot.empty()) context_->knows_chroot = true;
  if (!context_->knows_chroot) return look_for_chroot();
  ++context_->connections;
  had_server_ = true;
  news_.push_back(SessionEvent{.kind = SessionEvent::Kind::connected,
                               .key = key(),
                               .timeout = timeout(),
                               .asked_at = asked_at()});
}

// Before anything else, or it would be told that a lock has no node.
void DriverLine::look_for_chroot() {
  auto sending = fresh_sending();
  sending->request = share(Exists{.path = "/"});
  sending->answer_by = TimePoint::max();
  sending->on_answer = [this](const Result<Answer>& answer) { chroot_looked_for(answer); };
  Sending& handed = *sent_.emplace_back(std::move(sending));
  zookeeper::hand_over(client(), handed, context_->target);
}

void DriverLine::chroot_looked_for(const Result<Answer>& answer) {
  if (!answer || !is_connected()) return;
  if (answer->verdict == Verdict::no_node) {
    Error missing = error_at(
        server(),
        Errc::not_found,
        "there is no node " + context_->target.chroot + ", which the URL names after the servers");
    missing.remedy_text = "create it, or correct the URL";
    return refused(missing);
  }
  context_->knows_chroot = true;
  connected();
}

void DriverLine::disconnected(Was was, const Error& why) {
  failures_.insert_or_assign(server(), why);
  strangers_ = why.code == Errc::corrupt ? strangers_ + 1 : 0;
  // A session that has not been there yet has no server to lose, but somebody waits for it.
  const bool told = was == Was::connected ? context_->knows_chroot : !had_server_;
  if (told) {
    news_.push_back(
        SessionEvent{.kind = SessionEvent::Kind::disconnected, .error = all_of(failures_)});
  }
  // Waiting would not help.
  if (strangers_ >= context_->target.endpoints.size()) answer_waiting(why);
}

void DriverLine::expired() {
  answer_waiting(error_at(server(), Errc::lost, "the session is over"));
  news_.push_back(SessionEvent{.kind = SessionEvent::Kind::expired});
}

void DriverLine::refused(const Error& why) {
  answer_waiting(why);
  news_.push_back(SessionEvent{.kind = SessionEvent::Kind::refused, .error = why});
}

TimePoint DriverLine::silent_until() const {
  // Short enough that another server is found before a third of the session's time is over, which
  // is when it is renewed next.
  return sent_.empty() ? TimePoint::max() : silent_since_ + Duration{timeout()} / 4;
}

void DriverLine::turned() {
  for (const std::string& path : std::exchange(to_forget_, {})) forget_watches(client(), path);
  tell();
  if (closing_ && !over_) say_goodbye();
}

void DriverLine::tell() {
  if (telling_) return;
  const auto kept = self();
  telling_ = true;
  while (!news_.empty()) {
    News news = std::move(news_.front());
    news_.pop_front();
    if (Told* const told = std::get_if<Told>(&news)) {
      if (!told->sending->answered) told->sending->on_answer(std::move(told->answer));
    } else {
      tell_event(std::get<SessionEvent>(news));
    }
    // What the answers brought leaves together, and may find the connection broken.
    if (news_.empty()) flush();
  }
  telling_ = false;
}

void DriverLine::tell_event(const SessionEvent& event) {
  const OnEvent on_event = on_event_;
  const bool is_last =
      event.kind == SessionEvent::Kind::expired || event.kind == SessionEvent::Kind::refused;
  if (is_last) end();
  if (on_event) on_event(event);
}

void DriverLine::tell_soon() {
  if (!news_.empty()) env().post([self = self()] { self->tell(); });
}

void DriverLine::answer_soon(std::unique_ptr<Sending> sending, Error error) {
  news_.push_back(Told{std::move(sending), Unexpected{std::move(error)}});
  tell_soon();
}

void DriverLine::answer_waiting(const Error& error) {
  for (auto& sending : std::exchange(waiting_, {})) {
    news_.push_back(Told{std::move(sending), Unexpected{error}});
  }
}

void DriverLine::look_at_deadlines() {
  if (over_) return;
  const auto kept = self();
  take_overdue(env().now());
  TimePoint next = TimePoint::max();
  for (const Sendings* const sendings : {&waiting_, &sent_}) {
    for (const auto& sending : *sendings) {
      if (!sending->answered) next = std::min(next, sending->answer_by);
    }
  }
  if (next != TimePoint::max()) deadline_timer_.set(next);
  tell();
}

void DriverLine::take_overdue(TimePoint now) {
  const auto is_late = [now](const auto& sending) { return sending->answer_by <= now; };
  const auto late = std::stable_partition(
      waiting_.begin(), waiting_.end(), [&](const auto& one) { return !is_late(one); });
  for (auto one = late; one != waiting_.end(); ++one) {
    news_.push_back(Told{std::move(*one), Unexpected{never_left()}});
  }
  waiting_.erase(late, waiting_.end());
  for (const auto& one : sent_) {
    if (one->answered || !is_late(one)) continue;
    // It keeps its place, for what the client still brings.
    auto told = fresh_sending();
    told->on_answer = std::move(one->on_answer);
    one->answered = true;
    Error error = error_at(server(), Errc::unknown_outcome, "no answer in time");
    news_.push_back(Told{std::move(told), Unexpected{std::move(error)}});
  }
}

Error DriverLine::never_left() const {
  if (!failures_.empty()) return all_of(failures_);
  std::string servers;
  for (const Endpoint& endpoint : context_->target.endpoints) {
    servers += (servers.empty() ? "" : ",") + endpoint.text();
  }
  return error_at(servers, Errc::unavailable, "no connection in time");
}

void DriverLine::close() {
  if (over_ || closing_) return;
  closing_ = true;
  on_event_ = nullptr;
  if (client() == nullptr) return end();
  keeps_itself_ = self();
  close_until_ = env().now() + ask_.timeout;
  if (is_ready()) flush();
  say_goodbye();
}

// Tried with every turn of the client until it succeeds, or the session is over by itself.
void DriverLine::say_goodbye() {
  after_calls();
  const int connection = take_connection();
  if (connection < 0 && env().now() < close_until_) return;
  if (connection >= 0) say_farewell(env(), connection);
  answer_waiting(error_at(server(), Errc::unavailable, "the session was closed"));
  tell_soon();
  end();
}

void DriverLine::abandon() {
  if (!closing_) end();
  drop_callbacks();
}

void DriverLine::end_with_context() {
  end();
  drop_callbacks();
}

void DriverLine::end() {
  if (std::exchange(over_, true)) return;
  end_client();
  on_event_ = nullptr;
  const auto kept = std::exchange(keeps_itself_, nullptr);
  const Sendings waiting = std::exchange(waiting_, {});
  const Sendings sent = std::exchange(sent_, {});
}

// Dropping a callback unwinds its task, which may reach for this line.
void DriverLine::drop_callbacks() {
  on_event_ = nullptr;
  const auto news = std::exchange(news_, {});
  std::vector<OnAnswer> dropped;
  for (const Sendings* const sendings : {&waiting_, &sent_}) {
    for (const auto& sending : *sendings) {
      sending->answered = true;
      dropped.push_back(std::move(sending->on_answer));
    }
  }
}

}  // namespace holdfast::zookeeper
