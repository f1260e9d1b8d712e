#include "engines/zookeeper/session_line.h"

#include <utility>
#include <vector>

namespace holdfast::zookeeper {

SessionLine::Listening::Listening(Listening&& other) noexcept
    : line_{std::move(other.line_)},
      path_{std::move(other.path_)},
      number_{std::exchange(other.number_, 0)} {}

SessionLine::Listening& SessionLine::Listening::operator=(Listening&& other) noexcept {
  if (this == &other) return *this;
  end();
  line_ = std::move(other.line_);
  path_ = std::move(other.path_);
  number_ = std::exchange(other.number_, 0);
  return *this;
}

void SessionLine::Listening::end() noexcept {
  const std::uint64_t number = std::exchange(number_, 0);
  if (number == 0) return;
  if (const auto line = line_.lock()) line->stop(path_, number);
}

SessionLine::SessionLine(Env& env, std::shared_ptr<ZookeeperPort> port, OnEvent on_event)
    : env_{env}, port_{std::move(port)}, on_event_{std::move(on_event)} {}

SessionLine::~SessionLine() = default;

void SessionLine::open(SessionAsk ask) {
  const std::uint64_t generation = ++generation_;
  let_go();
  std::optional<SessionId> wanted;
  if (ask.resume) wanted = ask.resume->id;
  auto on_event = [weak = weak_from_this(), generation, wanted](const SessionEvent& event) {
    const auto self = weak.lock();
    if (!self || self->generation_ != generation) return;
    const bool greeted = event.kind == SessionEvent::Kind::connected;
    if (greeted && wanted && event.key.id != *wanted) return self->refuse_other();
    self->hear(event);
  };
  handle_ = port_->open(std::move(ask), std::move(on_event));
  settle_all({Errc::unknown_outcome, "the connection was given up before the answer came"});
  // The watches went with the last handle.
  std::vector<std::string> paths;
  for (const auto& [path, node] : nodes_) paths.push_back(path);
  for (const std::string& path : paths) {
    env_.post([weak = weak_from_this(), path] {
      if (const auto self = weak.lock()) self->tell(path, std::nullopt);
    });
  }
}

/// Some servers greet a session that they do not know with a new one.
void SessionLine::refuse_other() {
  close();
  hear({.kind = SessionEvent::Kind::expired});
}

/// It may be what calls us.
void SessionLine::let_go() {
  if (handle_) env_.post([gone = std::shared_ptr<ZookeeperSession>{std::move(handle_)}] {});
}

void SessionLine::close() {
  if (!std::exchange(closed_, true) && handle_) handle_->close();
  settle_all({Errc::lost, "the session was given up"});
}

void SessionLine::drop() {
  ++generation_;
  let_go();
  settle_all({Errc::lost, "the session was given up"});
}

void SessionLine::send(SharedRequest request, TimePoint answer_by, OnAnswer on_answer) {
  const std::uint64_t number = ++last_number_;
  pending_.emplace(number, std::move(on_answer));
  if (!handle_ || closed_) {
    env_.post([self = shared_from_this(), number] {
      self->settle(number, Unexpected{Error{Errc::lost, "the session was given up"}});
    });
    return;
  }
  handle_->send(
      std::move(request), answer_by, [weak = weak_from_this(), number](Result<Answer> answer) {
        if (const auto self = weak.lock()) self->settle(number, std::move(answer));
      });
}

void SessionLine::settle(std::uint64_t number, Result<Answer> answer) {
  const auto found = pending_.find(number);
  if (found == pending_.end()) return;
  OnAnswer on_answer = std::move(found->second);
  pending_.erase(found);
  on_answer(std::move(answer));
}

void SessionLine::settle_all(const Error& error) {
  // Who is answered may ask again.
  std::vector<std::uint64_t> numbers;
  for (const auto& [number, on_answer] : pending_) numbers.push_back(number);
  for (const std::uint64_t number : numbers) {
    env_.post(
        [self = shared_from_this(), number, error] { self->settle(number, Unexpected{error}); });
  }
}

SessionLine::Listening SessionLine::listen(std::string path, Heard heard) {
  Node& node = nodes_[path];
  node.armed = true;
  const std::uint64_t number = ++last_number_;
  node.listeners.emplace(number, std::make_shared<Heard>(std::move(heard)));
  Listening listening;
  listening.line_ = weak_from_this();
  listening.path_ = std::move(path);
  listening.number_ = number;
  return listening;
}

void SessionLine::stop(const std::string& path, std::uint64_t number) {
  const auto found = nodes_.find(path);
  if (found == nodes_.end()) return;
  found->second.listeners.erase(number);
  if (!found->second.listeners.empty()) return;
  if (found->second.armed && handle_ && !closed_) handle_->unwatch(path);
  nodes_.erase(found);
}

void SessionLine::hear(const SessionEvent& event) {
  if (event.kind == SessionEvent::Kind::changed) return tell(event.path, event.change);
  if (on_event_) on_event_(event);
}

void SessionLine::tell(std::string path, Change change) {
  const auto found = nodes_.find(path);
  if (found == nodes_.end()) return;
  found->second.armed = false;
  const auto listeners = found->second.listeners;
  for (const auto& [number, heard] : listeners) {
    // Who was told before may have ended its listening.
    const auto node = nodes_.find(path);
    if (node != nodes_.end() && node->second.listeners.contains(number)) (*heard)(change);
  }
}

}  // namespace holdfast::zookeeper
