#include "engines/postgres/driver/statement_pool.h"

#include <algorithm>
#include <utility>

namespace holdfast::postgres {
namespace {

/// Statements of ours take much less, unless they wait for somebody at the server.
constexpr Duration kLong{std::chrono::milliseconds{20}};
/// With as many under way, further statements wait here, where they can still be withdrawn.
constexpr std::size_t kMost = 64;

}  // namespace

class StatementPool::Member final : public Connection::User {
 public:
  explicit Member(StatementPool& pool)
      : pool_{pool},
        connection_{Connection::open(pool.server_, Connection::Use::statements, *this)} {}
  ~Member() { connection_->close(); }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  Connection& connection() const { return *connection_; }
  bool has_room() const { return connection_->is_ready() && connection_->load() < kMost; }
  bool is_idle_since(TimePoint then) const {
    return connection_->is_ready() && connection_->load() == 0 && used_at_ <= then;
  }
  void send(Request request, TimePoint now) {
    used_at_ = now;
    connection_->send(std::move(request));
  }

  void on_ready() override { pool_.member_ready(); }
  void on_notified(std::string, std::string) override {}
  void on_told() override { pool_.flush(); }
  void on_broken(Failure failure) override { pool_.member_broken(*this, failure); }
  bool is_abandoned() const override { return pool_.abandoned(); }

 private:
  StatementPool& pool_;
  std::shared_ptr<Connection> connection_;
  TimePoint used_at_{};
};

StatementPool::StatementPool(std::shared_ptr<Server> server)
    : EndsWithContext{server->env.context()},
      server_{std::move(server)},
      deadline_timer_{server_->env, [this] { look_at_deadlines(); }},
      retry_timer_{server_->env, [this] { flush(); }},
      idle_timer_{server_->env, [this] { shrink(); }} {}

StatementPool::~StatementPool() = default;

void StatementPool::send(SharedCall call, TimePoint answer_by, OnAnswer on_answer) {
  waiting_.push_back(
      {.call = std::move(call), .answer_by = answer_by, .on_answer = std::move(on_answer)});
  deadline_timer_.set(answer_by);
  flush_soon();
}

void StatementPool::flush_soon() {
  if (std::exchange(flush_posted_, true)) return;
  const auto flush_later = [self = shared_from_this(), this] {
    flush_posted_ = false;
    flush();
  };
  server_->env.run_after_tasks(flush_later);
}

void StatementPool::flush() {
  if (closed_ || abandoned()) return;
  while (!waiting_.empty()) {
    Member* const member = best();
    const bool is_free = member != nullptr && member->connection().load() == 0;
    if (!is_free && grow() == Growing::yes) break;
    if (member == nullptr || !member->has_room()) break;
    Request request = std::move(waiting_.front());
    waiting_.pop_front();
    member->send(std::move(request), server_->env.now());
  }
  for (const auto& member : members_) member->connection().flush();
}

StatementPool::Member* StatementPool::best() const {
  const TimePoint long_ago = server_->env.now() - kLong;
  const auto burden = [&](const Member& member) {
    const Connection& connection = member.connection();
    return std::pair{connection.is_silent_since(long_ago), connection.load()};
  };
  Member* best = nullptr;
  for (const auto& member : members_) {
    if (!member->connection().is_ready()) continue;
    if (best == nullptr || burden(*member) < burden(*best)) best = member.get();
  }
  return best;
}

StatementPool::Growing StatementPool::grow() {
  // One at a time: the first may find that the server takes no more, or is none.
  const bool connects = std::ranges::any_of(
      members_, [](const auto& member) { return !member->connection().is_ready(); });
  if (connects) return Growing::yes;
  if (members_.size() >= server_->settings.max_connections) return Growing::no;
  if (server_->env.now() < server_->not_before) {
    retry_timer_.set(server_->not_before);
    return Growing::no;
  }
  members_.push_back(std::make_unique<Member>(*this));
  return Growing::yes;
}

void StatementPool::shrink() {
  const TimePoint then = server_->env.now() - server_->settings.kept_idle;
  while (members_.size() > 1) {
    const auto idle = std::ranges::find_if(
        members_, [then](const auto& member) { return member->is_idle_since(then); });
    if (idle == members_.end()) break;
    members_.erase(idle);
  }
  if (members_.size() > 1) idle_timer_.set(server_->env.now() + server_->settings.kept_idle);
}

void StatementPool::member_ready() {
  last_failure_.reset();
  if (members_.size() > 1) idle_timer_.set(server_->env.now() + server_->settings.kept_idle);
  flush_soon();
}

void StatementPool::member_broken(Member& member, const Failure& failure) {
  const auto self = shared_from_this();
  const auto place =
      std::ranges::find(members_, &member, [](const auto& entry) { return entry.get(); });
  const auto gone = std::move(*place);
  members_.erase(place);
  last_failure_ = failure;
  if (failure.cause == Failure::Cause::lasting && members_.empty()) {
    answer(std::exchange(waiting_, {}), failure.error);
  }
  if (!waiting_.empty()) flush_soon();
}

void StatementPool::look_at_deadlines() {
  const auto self = shared_from_this();
  const TimePoint now = server_->env.now();
  Requests overdue;
  Requests waiting;
  TimePoint next = TimePoint::max();
  for (Request& request : std::exchange(waiting_, {})) {
    const bool is_late = request.answer_by <= now;
    if (!is_late) next = std::min(next, request.answer_by);
    (is_late ? overdue : waiting).push_back(std::move(request));
  }
  waiting_ = std::move(waiting);
  if (next != TimePoint::max()) deadline_timer_.set(next);
  answer(std::move(overdue), never_left());
}

void StatementPool::answer(Requests requests, const Error& error) {
  for (Request& request : requests) {
    if (abandoned()) return;
    request.on_answer(Result<Answer>{Unexpected{error}});
  }
}

Error StatementPool::never_left() const {
  if (!last_failure_) {
    return error_at(server_->text(), Errc::unavailable, "the statement could not be sent in time");
  }
  Error why = last_failure_->error;
  why.code = Errc::unavailable;
  return why;
}

void StatementPool::close() {
  closed_ = true;
  const auto members = std::exchange(members_, {});
  // Dropping a callback unwinds its task, which may reach for this pool.
  const auto dropped = std::exchange(waiting_, {});
}

void StatementPool::end_with_context() {
  abandon();
  close();
}

}  // namespace holdfast::postgres
