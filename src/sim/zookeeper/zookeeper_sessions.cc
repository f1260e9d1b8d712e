#include "sim/zookeeper/zookeeper_sessions.h"

#include <algorithm>

namespace holdfast::sim {

using namespace zookeeper;

Duration ZookeeperSessions::end_of(Duration now, Millis timeout) {
  return ((now + timeout) / kTick + 1) * kTick;
}

ZookeeperSessions::Session* ZookeeperSessions::find(SessionId id) {
  const auto found = sessions_.find(id);
  return found != sessions_.end() && !found->second.ended ? &found->second : nullptr;
}

void ZookeeperSessions::add(SessionId id, Millis timeout, Duration now, std::size_t member) {
  sessions_[id] = {.timeout = timeout, .ends = end_of(now, timeout), .member = member};
}

bool ZookeeperSessions::touch(SessionId id, Duration now) {
  Session* session = find(id);
  if (session == nullptr) return false;
  session->ends = std::max(session->ends, end_of(now, session->timeout));
  return true;
}

bool ZookeeperSessions::move(SessionId id, Millis timeout, Duration now, std::size_t member) {
  Session* session = find(id);
  if (session == nullptr) return false;
  session->timeout = timeout;
  session->ends = std::max(session->ends, end_of(now, timeout));
  session->member = member;
  return true;
}

ZookeeperSessions::Standing ZookeeperSessions::check(SessionId id, std::size_t member) {
  Session* session = find(id);
  if (session == nullptr) return Standing::gone;
  if (!session->member) session->member = member;
  return session->member == member ? Standing::fine : Standing::moved;
}

void ZookeeperSessions::begin(const std::map<SessionId, Millis>& sessions, Duration now) {
  sessions_.clear();
  for (const auto& [id, timeout] : sessions) {
    sessions_[id] = {.timeout = timeout, .ends = end_of(now, timeout)};
  }
}

std::vector<SessionId> ZookeeperSessions::take_ended(Duration now) {
  std::vector<SessionId> ended;
  for (auto& [id, session] : sessions_) {
    if (session.ended || session.ends > now) continue;
    session.ended = true;
    ended.push_back(id);
  }
  return ended;
}

std::optional<Duration> ZookeeperSessions::next_end() const {
  std::optional<Duration> next;
  for (const auto& [id, session] : sessions_) {
    if (!session.ended && (!next || session.ends < *next)) next = session.ends;
  }
  return next;
}

}  // namespace holdfast::sim
