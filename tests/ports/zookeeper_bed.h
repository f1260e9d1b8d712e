// The contract of ZookeeperPort, as etcd_bed.h has it for etcd: one suite, on the model ensemble of
// the simulator and on the real server alike.
//
// A bed gives a Port. Each bed's source instantiates the suite for itself:
// HOLDFAST_ZOOKEEPER_PORT_ON(Server, make_zookeeper_server_bed). A server may be shared between
// tests: nodes of a test are below at(""), and zxids are compared, not counted.

#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/env.h"
#include "engines/zookeeper/zookeeper_port.h"

namespace holdfast::ports {

/// Far longer than anything here takes. The time of the bed's Env.
inline constexpr std::chrono::seconds kZookeeperBound{30};

class ZookeeperPortBed {
 public:
  virtual ~ZookeeperPortBed() = default;

  /// Used within on_env() alone.
  virtual zookeeper::ZookeeperPort& port() = 0;
  virtual Env& env() = 0;

  /// Runs `work` between tasks of the Env, and waits for it.
  virtual void on_env(const std::function<void()>& work) = 0;

  /// Lets time pass until `done`, asked between tasks of the Env again and again, says so. Whether
  /// it did within kZookeeperBound.
  virtual bool go_on_until(const std::function<bool()>& done) = 0;

  /// The range of timeouts that servers grant. The least is about a second.
  virtual Millis least_timeout() const = 0;
  virtual Millis most_timeout() const = 0;
};

using MakeZookeeperBed = std::unique_ptr<ZookeeperPortBed> (*)();

/// Over a single ZooKeeper server, which the beds share. Containers without children are looked for
/// several times a second.
std::unique_ptr<ZookeeperPortBed> make_zookeeper_server_bed();

/// A session of a test, and what it told so far, in order. Looked at within on_env() and
/// go_on_until() alone.
struct Talk {
  using Event = zookeeper::SessionEvent;
  /// An event, or the answer to a request.
  using Word = std::variant<Event, Result<zookeeper::Answer>>;

  std::unique_ptr<zookeeper::ZookeeperSession> session;
  std::shared_ptr<std::deque<Word>> said{std::make_shared<std::deque<Word>>()};
  /// Of the connection.
  zookeeper::SessionKey key{};
};

/// Sessions and requests that wait for what they bring.
class ZookeeperPortTest : public testing::TestWithParam<MakeZookeeperBed> {
 protected:
  /// Creates the node of this test alone.
  void SetUp() override;
  void TearDown() override;

  /// A path of this test; of its node: at("").
  std::string at(const std::string& name) const {
    return name.empty() ? root_ : root_ + '/' + name;
  }

  /// Begins to open a session.
  Talk& begin(zookeeper::SessionAsk ask);
  /// Opens a session, and waits until it is connected.
  Talk& open(Millis timeout = Millis{20'000});
  /// Ends it without a word.
  void leave(Talk& talk);
  void close(Talk& talk);

  /// Sends requests at once; their answers are heard in next().
  void send(Talk& talk, std::vector<zookeeper::Request> requests);
  /// The next thing told. Fails the test when none comes.
  Talk::Word next(Talk& talk);
  zookeeper::SessionEvent next_event(Talk& talk);
  Result<zookeeper::Answer> next_answer(Talk& talk);
  /// The next change, such as "data a"; the path as at() has it.
  std::string next_change(Talk& talk);

  /// Sends a request and waits for the answer, which must be the next thing told.
  Result<zookeeper::Answer> try_ask(Talk& talk, zookeeper::Request request);
  /// The same where it must not fail.
  zookeeper::Answer ask(Talk& talk, zookeeper::Request request);
  zookeeper::Verdict verdict(Talk& talk, zookeeper::Request request);
  /// Creates a persistent node that is not there.
  zookeeper::Answer create(Talk& talk, const std::string& name, const std::string& data = "");
  /// Waits until the node is gone.
  bool vanishes(Talk& talk, const std::string& name);

  std::unique_ptr<ZookeeperPortBed> bed_ = GetParam()();

 private:
  std::deque<Talk> talks_;
  const std::string root_ = fresh_root();
  static std::string fresh_root();
};

#define HOLDFAST_ZOOKEEPER_PORT_ON(bed, maker)                                                \
  INSTANTIATE_TEST_SUITE_P(bed, ZookeeperPortTest, testing::Values(&maker), [](const auto&) { \
    return std::string{#bed};                                                                 \
  })

}  // namespace holdfast::ports
