// SimZookeeperSession: one session of a simulated process, as its client library has it.
//
// Thread safety: none. Lifetime: shared by whoever opened it, its timers and what is under way to
// it; end() is the last that is called.

#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "sim/world/sim_pipe.h"
#include "sim/zookeeper/sim_zookeeper_port.h"

namespace holdfast::sim {

class SimZookeeperSession : public std::enable_shared_from_this<SimZookeeperSession> {
 public:
  SimZookeeperSession(SimZookeeperPort::Route route,
                      zookeeper::SessionAsk ask,
                      zookeeper::OnEvent on_event);

  void begin();
  void send(zookeeper::SharedRequest request, TimePoint answer_by, zookeeper::OnAnswer on_answer);
  void unwatch(const std::string& path);
  void close();
  /// Nothing is told any more.
  void end();

 private:
  enum class Phase : std::uint8_t { connecting, connected, over };

  /// One connection. Its two ends are at different machines, and know of each other what arrives.
  struct Link {
    std::size_t member{0};
    std::shared_ptr<SimPipe> up;
    std::shared_ptr<SimPipe> down;
    // At the client, by its clock.
    TimePoint asked_at{};
    TimePoint heard_at{};
    TimePoint said_at{};
    bool goodbye{false};
    // At the member.
    ZookeeperConnectionPtr there{};
    std::map<std::uint64_t, std::string_view> asked{};
  };
  using LinkPtr = std::shared_ptr<Link>;

  struct Pending {
    std::uint64_t number{0};
    zookeeper::SharedRequest request;
    zookeeper::OnAnswer on_answer;
    ParkingId waiting{};
    /// Whether a server may have got it.
    bool left{false};
    bool over{false};
    /// Its watch was forgotten meanwhile.
    bool unwatched{false};
  };
  using PendingPtr = std::shared_ptr<Pending>;

  void connect();
  void arrive(const LinkPtr& link, const ZookeeperHello& hello);
  void say_back(const LinkPtr& link, ZookeeperWord word);
  void connect_later();
  void hear(const LinkPtr& link, const ZookeeperWord& word);
  void hear_welcome(const ZookeeperWelcome& welcome);
  void hear_reply(const ZookeeperReply& reply);
  void hear_news(const ZookeeperNews& news);
  void note_watch(const zookeeper::Request& request, zookeeper::Verdict verdict);
  void disconnect(const std::string& why);
  void cut_link();
  void say_goodbye();
  void expire();
  /// Asks when all was silent, and leaves a server that does not answer.
  void keep_up(const LinkPtr& link);

  void say(std::uint64_t number, std::function<void(const LinkPtr&)> at_member);
  void depart(const PendingPtr& pending);
  void take_up(const PendingPtr& pending);
  void finish(const PendingPtr& pending, Result<zookeeper::Answer> answer);
  void tell(const zookeeper::SessionEvent& event);

  SimZookeeperPort::Route route_;
  zookeeper::OnEvent on_event_;
  Phase phase_{Phase::connecting};
  bool closing_{false};
  Duration timeout_;
  zookeeper::SessionAsk ask_;
  zookeeper::Zxid seen_{0};
  ZookeeperWatches watches_;
  LinkPtr link_;
  std::size_t next_member_{0};
  std::size_t refusals_{0};
  std::deque<PendingPtr> pending_;
};

}  // namespace holdfast::sim
