// Servers that are not there, are not ZooKeeper, or do not want us.

#include <gmock/gmock.h>

#include "tests/redis/fake_server.h"
#include "tests/zookeeper/driver_bed.h"
#include "tests/zookeeper/shared_server.h"

namespace holdfast::zookeeper {
namespace {

using namespace std::chrono_literals;
using redis::FakeServer;
using testing::HasSubstr;

const SessionAsk kAsk{.timeout = Millis{10'000}};

TEST(ZookeeperBadServerTest, AServerThatIsNotThereIsUnavailableInTime) {
  const std::uint16_t port = free_port();
  DriverBed bed{target_at(port)};
  BedSession session{bed, kAsk};
  const Error error = error_of(session.ask(Read{"/"}, 300ms));
  EXPECT_EQ(error.code, Errc::unavailable);
  EXPECT_THAT(error.message, HasSubstr("ZooKeeper 127.0.0.1:" + std::to_string(port) + ": "));
  EXPECT_THAT(error.message, HasSubstr("Connection refused"));
}

TEST(ZookeeperBadServerTest, EveryServerIsNamed) {
  const std::uint16_t one = free_port();
  const std::uint16_t other = free_port();
  ZookeeperTarget target = target_at(one);
  target.endpoints.push_back({"127.0.0.1", other});
  DriverBed bed{target};
  BedSession session{bed, kAsk};
  const Error error = error_of(session.ask(Read{"/"}, 2s));
  EXPECT_EQ(error.code, Errc::unavailable);
  EXPECT_THAT(error.message, HasSubstr(std::to_string(one)));
  EXPECT_THAT(error.message, HasSubstr(std::to_string(other)));
  EXPECT_EQ(error.nodes.size(), 2U);
}

TEST(ZookeeperBadServerTest, AHostNameThatDoesNotExistIsUnavailable) {
  DriverBed bed{{.endpoints = {{"no-such-host.invalid", 2181}}}};
  BedSession session{bed, kAsk};
  const Error error = error_of(session.ask(Read{"/"}, 3s));
  EXPECT_EQ(error.code, Errc::unavailable);
  EXPECT_THAT(error.message, HasSubstr("no-such-host.invalid:2181"));
}

TEST(ZookeeperBadServerTest, HostNamesAreLookedUp) {
  ZookeeperTarget target{.endpoints = {{"localhost", shared_server().node(0).ports().clients}}};
  target.endpoints.push_back({"no-such-host.invalid", 2181});
  DriverBed bed{target};
  BedSession session{bed, kAsk};
  EXPECT_TRUE(session.ask(Read{"/"}));
}

struct NotZookeeper {
  const char* name;
  const char* greeting;
  Errc code;
  const char* cause;
};

class ZookeeperNotZookeeperTest : public testing::TestWithParam<NotZookeeper> {};

TEST_P(ZookeeperNotZookeeperTest, IsNamedInTime) {
  FakeServer server{GetParam().greeting, GetParam().greeting};
  ZookeeperTarget target = target_at(server.port());
  target.connect_timeout = 500ms;
  DriverBed bed{target};
  BedSession session{bed, kAsk};
  const Error error = error_of(session.ask(Read{"/"}, 3s));
  EXPECT_EQ(error.code, GetParam().code);
  EXPECT_THAT(error.message, HasSubstr("127.0.0.1:" + std::to_string(server.port()) + ": "));
  EXPECT_THAT(error.message, HasSubstr(GetParam().cause));
}

INSTANTIATE_TEST_SUITE_P(
    Servers,
    ZookeeperNotZookeeperTest,
    testing::Values(NotZookeeper{"Silent", "", Errc::unavailable, "is it a ZooKeeper server?"},
                    NotZookeeper{"Http",
                                 "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n",
                                 Errc::corrupt,
                                 "it does not answer as a ZooKeeper server does"},
                    NotZookeeper{"Redis",
                                 "-ERR unknown command\r\n",
                                 Errc::corrupt,
                                 "it does not answer as a ZooKeeper server does"},
                    NotZookeeper{
                        "OneByte", "x", Errc::corrupt, "it does not answer as a ZooKeeper server"}),
    [](const auto& example) { return std::string{example.param.name}; });

TEST(ZookeeperBadServerTest, AServerThatAnswersIsFoundAmongOthersThatDoNot) {
  FakeServer silent{"", ""};
  FakeServer http{"HTTP/1.1 400 Bad Request\r\n\r\n", ""};
  ZookeeperTarget target = target_of(shared_server());
  target.endpoints.push_back({"127.0.0.1", silent.port()});
  target.endpoints.push_back({"127.0.0.1", http.port()});
  target.endpoints.push_back({"127.0.0.1", free_port()});
  target.connect_timeout = 1s;
  DriverBed bed{target};
  // Each begins with any of them.
  for (int i = 0; i < 8; ++i) {
    BedSession session{bed, kAsk};
    EXPECT_TRUE(session.ask(Read{"/"}));
  }
}

TEST(ZookeeperBadServerTest, TooManyConnectionsAreNamedAsACause) {
  ZookeeperEnsemble server{{.settings = {.max_connections = 1}}};
  DriverBed bed{target_of(server)};
  {
    BedSession first{bed, kAsk};
    EXPECT_TRUE(first.ask(Read{"/"}));
    BedSession second{bed, kAsk};
    const Error error = error_of(second.ask(Read{"/"}, 1s));
    EXPECT_EQ(error.code, Errc::unavailable);
    EXPECT_THAT(error.message, HasSubstr(server.node(0).endpoint()));
    EXPECT_THAT(error.message, HasSubstr("maxClientCnxns"));
    EXPECT_TRUE(first.ask(Read{"/"}));
  }
  BedSession third{bed, kAsk};
  EXPECT_TRUE(third.ask(Read{"/"}));
}

}  // namespace
}  // namespace holdfast::zookeeper
