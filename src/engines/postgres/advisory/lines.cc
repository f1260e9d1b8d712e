#include "engines/postgres/advisory/lines.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace holdfast::postgres::advisory {
namespace {

using namespace std::chrono_literals;

/// How long a line is kept that nobody uses.
Duration kept_idle(Millis ttl) { return std::min<Duration>(ttl / 2, 1min); }

}  // namespace

LineUse::LineUse(std::shared_ptr<Line> line, std::int64_t key) : line_{std::move(line)}, key_{key} {
  line_->add(key_);
}

LineUse& LineUse::operator=(LineUse&& other) noexcept {
  if (this == &other) return *this;
  let_go();
  line_ = std::move(other.line_);
  key_ = other.key_;
  return *this;
}

void LineUse::let_go() noexcept {
  if (line_) line_->remove(key_);
  line_.reset();
}

Lines::Lines(Env& env, std::shared_ptr<PostgresPort> port, Line::OnEnd on_end)
    : env_{env}, port_{std::move(port)}, on_end_{std::move(on_end)} {}

Task<Result<LineUse>> Lines::quick(Millis ttl, std::int64_t key, TimePoint answer_by) {
  return use(ttl, key, Wanted::quick, answer_by);
}

Task<Result<LineUse>> Lines::patient(Millis ttl, std::int64_t key, TimePoint answer_by) {
  return use(ttl, key, Wanted::patient, answer_by);
}

bool Lines::has(std::int64_t key) const {
  return std::ranges::any_of(lines_, [&](const auto& line) { return line->keys().contains(key); });
}

std::shared_ptr<Line> Lines::find(Millis ttl, std::int64_t key, Wanted wanted) const {
  const auto at_home = [&](const std::shared_ptr<Line>& line) {
    return line->ttl() == ttl && line->role() == Line::Role::home && !line->keys().contains(key);
  };
  const auto idle = [&](const std::shared_ptr<Line>& line) {
    return line->ttl() == ttl && line->role() == Line::Role::spare && line->keys().empty();
  };
  auto found = lines_.end();
  if (wanted == Wanted::quick) found = std::ranges::find_if(lines_, at_home);
  if (found == lines_.end()) found = std::ranges::find_if(lines_, idle);
  return found == lines_.end() ? nullptr : *found;
}

std::shared_ptr<Line> Lines::open(Millis ttl, Wanted wanted, TimePoint answer_by) {
  const auto is_home = [&](const auto& line) {
    return line->ttl() == ttl && line->role() == Line::Role::home;
  };
  const bool first = wanted == Wanted::quick && std::ranges::none_of(lines_, is_home);
  const auto on_end = [weak = weak_from_this()](const std::shared_ptr<Line>& ended) {
    const auto self = weak.lock();
    if (!self) return;
    std::erase(self->lines_, ended);
    self->on_end_(ended);
  };
  const auto line = Line::open(
      env_, *port_, ttl, first ? Line::Role::home : Line::Role::spare, answer_by, on_end);
  lines_.push_back(line);
  if (!std::exchange(closing_, true)) env_.spawn(close_in_time(weak_from_this(), env_));
  return line;
}

Task<Result<LineUse>> Lines::use(Millis ttl, std::int64_t key, Wanted wanted, TimePoint answer_by) {
  const auto self = shared_from_this();
  std::shared_ptr<Line> line = find(ttl, key, wanted);
  if (!line) line = open(ttl, wanted, answer_by);
  LineUse taken{line, key};
  const auto ready = co_await line->ready(answer_by);
  if (!ready) co_return Unexpected{ready.error()};
  co_return taken;
}

void Lines::discard(const std::shared_ptr<Line>& line) {
  const std::shared_ptr<Line> kept = line;
  std::erase(lines_, kept);
  kept->close();
}

/// When to look again.
TimePoint Lines::close_idle_ones() {
  const TimePoint now = env_.now();
  TimePoint next = TimePoint::max();
  std::vector<std::shared_ptr<Line>> idle;
  for (const auto& line : lines_) {
    const TimePoint since = line->keys().empty() ? line->idle_since() : now;
    const TimePoint due = since + kept_idle(line->ttl());
    if (now >= due) idle.push_back(line);
    if (now < due) next = std::min(next, due);
  }
  for (const auto& line : idle) discard(line);
  return next;
}

Task<void> Lines::close_in_time(std::weak_ptr<Lines> weak, Env& env) {
  for (;;) {
    TimePoint next{};
    {
      const auto self = weak.lock();
      if (!self) co_return;
      next = self->close_idle_ones();
      self->closing_ = !self->lines_.empty();
      if (!self->closing_) co_return;
    }
    co_await env.sleep_until(next);
  }
}

}  // namespace holdfast::postgres::advisory
