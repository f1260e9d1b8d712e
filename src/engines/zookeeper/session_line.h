// SessionLine: the way to one ZooKeeper session, over one handle of the port after another.
//
// Requests are answered even if their handle goes. Whoever listens for changes of a node arms the
// watch by a Read of it, and is told by `std::nullopt` when changes may have been missed.
//
// Thread safety: as Env. Lifetime: the Env outlives it; whoever awaits an answer keeps it alive.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/completion.h"
#include "base/env.h"
#include "engines/zookeeper/zookeeper_port.h"

namespace holdfast::zookeeper {

class SessionLine : public std::enable_shared_from_this<SessionLine> {
 public:
  using Change = std::optional<SessionEvent::Change>;
  using Heard = std::function<void(Change)>;

  /// Hears for as long as it lives.
  class Listening {
   public:
    Listening() = default;
    Listening(Listening&& other) noexcept;
    Listening& operator=(Listening&& other) noexcept;
    ~Listening() { end(); }

    explicit operator bool() const { return number_ != 0; }

   private:
    friend class SessionLine;
    void end() noexcept;

    std::weak_ptr<SessionLine> line_;
    std::string path_;
    std::uint64_t number_{0};
  };

  SessionLine(Env& env, std::shared_ptr<ZookeeperPort> port, OnEvent on_event);
  ~SessionLine();
  SessionLine(const SessionLine&) = delete;
  SessionLine& operator=(const SessionLine&) = delete;

  /// Takes another handle. What is under way over the last one is answered by unknown_outcome.
  /// A server that gives another session than the one to be resumed has let that end: `expired` is
  /// told, and what it gave is closed.
  void open(SessionAsk ask);
  /// Ends the session at the server, soon. What is under way or follows is answered by `lost`.
  void close();
  /// Leaves the session to its timeout, if it was not closed. What is under way or follows is
  /// answered by `lost`.
  void drop();

  void send(SharedRequest request, TimePoint answer_by, OnAnswer on_answer);

  /// As ZookeeperSession::answered().
  auto answered(const SharedRequest& request, TimePoint answer_by) {
    const auto start = [this, &request, answer_by](auto handler) {
      send(request, answer_by, OnAnswer{std::move(handler)});
    };
    return completion<Result<Answer>>(start);
  }

  /// Calls back between tasks, never inside this call. A Read of the path that watches is to
  /// follow.
  [[nodiscard]] Listening listen(std::string path, Heard heard);

 private:
  struct Node {
    /// A watch is set, or about to be.
    bool armed{false};
    std::map<std::uint64_t, std::shared_ptr<Heard>> listeners{};
  };

  void hear(const SessionEvent& event);
  void refuse_other();
  void tell(std::string path, Change change);
  void let_go();
  void settle(std::uint64_t number, Result<Answer> answer);
  void settle_all(const Error& error);
  void stop(const std::string& path, std::uint64_t number);

  Env& env_;
  std::shared_ptr<ZookeeperPort> port_;
  OnEvent on_event_;
  std::unique_ptr<ZookeeperSession> handle_;
  bool closed_{false};
  std::uint64_t generation_{0};
  std::uint64_t last_number_{0};
  std::unordered_map<std::uint64_t, OnAnswer> pending_;
  std::map<std::string, Node> nodes_;
};

}  // namespace holdfast::zookeeper
