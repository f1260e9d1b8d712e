// ZookeeperPort: what the engine needs of a ZooKeeper ensemble: sessions, and requests in order.
//
// The driver implements it over ZooKeeper's C client, the simulator over a model ensemble.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/callback.h"
#include "base/completion.h"
#include "engines/zookeeper/zookeeper_messages.h"

namespace holdfast::zookeeper {

/// Shared by every repetition.
using SharedRequest = std::shared_ptr<const Request>;

inline SharedRequest share(Request request) {
  return std::make_shared<const Request>(std::move(request));
}

using OnAnswer = Callback<56, Result<Answer>>;
using OnEvent = std::function<void(const SessionEvent&)>;

/// One session, over one connection at a time; interruptions are bridged at the next server.
///
/// Requests run in the order in which they were sent, and answers and events are told in the order
/// in which the server gave them. A watch is told before the answer to any later request that saw
/// the change.
///
/// Answers are handed over once, by `answer_by` or soon after, between tasks of the Env and never
/// inside the call. Nothing is repeated behind the caller's back once it may have run.
///
/// Failures name the server and the cause:
/// unavailable: it has not run and never will: no server was reached in time.
/// unknown_outcome: it left and no answer came. It may have run, or may still run; after a request
/// that is sent once the session is connected again only if that server hung meanwhile.
/// lost: the session is over; the request has not run and never will.
/// denied: no right to that node. invalid_argument: too large for the server, or no valid path.
/// corrupt: whoever answers is not ZooKeeper. internal: another refusal.
///
/// Thread safety: as Env; several requests may be under way at once.
/// Lifetime: its end drops what was to be called back and leaves the session to its timeout, so
/// that somebody else may resume it; close() ends the session with its nodes.
class ZookeeperSession {
 public:
  virtual ~ZookeeperSession() = default;

  virtual void send(SharedRequest request, TimePoint answer_by, OnAnswer on_answer) = 0;

  /// Forgets the watches of this session on a node. An event may still be under way.
  virtual void unwatch(const std::string& path) = 0;

  /// Ends the session at the server, soon and without an answer. No request may follow.
  virtual void close() = 0;

  /// Awaited, sends and waits for the answer. `request` outlives the await; it is not held, because
  /// g++ 12 destroys what an awaiting expression holds twice.
  auto answered(const SharedRequest& request, TimePoint answer_by) {
    const auto start = [this, &request, answer_by](auto handler) {
      send(request, answer_by, OnAnswer{std::move(handler)});
    };
    return completion<Result<Answer>>(start);
  }
};

struct SessionAsk {
  /// The server adjusts it to its range.
  Millis timeout{0};
  /// A session that is there already.
  std::optional<SessionKey> resume{};
};

/// Thread safety: as Env. Lifetime: outlives its sessions.
class ZookeeperPort {
 public:
  virtual ~ZookeeperPort() = default;

  /// Begins to connect, and goes on until there is a server. Events are told between tasks of the
  /// Env, never inside this call.
  virtual std::unique_ptr<ZookeeperSession> open(SessionAsk ask, OnEvent on_event) = 0;
};

}  // namespace holdfast::zookeeper
