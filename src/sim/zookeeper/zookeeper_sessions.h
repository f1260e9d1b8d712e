// ZookeeperSessions: the sessions of a model ensemble as one leader knows them, and when they end.
//
// Times are of the leader's clock. A session ends at the first tick after its timeout.
//
// Thread safety: none.

#pragma once

#include <map>
#include <optional>
#include <vector>

#include "engines/zookeeper/zookeeper_messages.h"

namespace holdfast::sim {

class ZookeeperSessions {
 public:
  /// What the servers of an ensemble wait in, and how much they do in.
  static constexpr Duration kTick = std::chrono::milliseconds{500};

  /// By the member that serves it.
  enum class Standing : std::uint8_t {
    fine,
    /// Another member serves it.
    moved,
    gone,
  };

  void add(zookeeper::SessionId id, Millis timeout, Duration now, std::size_t member);
  void remove(zookeeper::SessionId id) { sessions_.erase(id); }

  /// It was heard of. False: it has ended.
  bool touch(zookeeper::SessionId id, Duration now);
  /// It is served by that member from now on. False: it has ended.
  bool move(zookeeper::SessionId id, Millis timeout, Duration now, std::size_t member);
  /// The first member that asks serves a session that nobody does.
  Standing check(zookeeper::SessionId id, std::size_t member);

  /// A leader begins with all sessions, and each with its whole timeout.
  void begin(const std::map<zookeeper::SessionId, Millis>& sessions, Duration now);

  /// Those that have ended since the last time.
  std::vector<zookeeper::SessionId> take_ended(Duration now);
  std::optional<Duration> next_end() const;

 private:
  struct Session {
    Millis timeout{0};
    Duration ends{};
    std::optional<std::size_t> member{};
    bool ended{false};
  };

  static Duration end_of(Duration now, Millis timeout);
  /// Null: it has ended.
  Session* find(zookeeper::SessionId id);

  std::map<zookeeper::SessionId, Session> sessions_;
};

}  // namespace holdfast::sim
