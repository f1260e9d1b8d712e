// Endpoints where nobody is, or somebody who is not etcd.

#include <gmock/gmock.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>

#include "tests/etcd/driver_bed.h"
#include "tests/redis/fake_server.h"

namespace holdfast::etcd {
namespace {

using namespace std::chrono_literals;
using redis::FakeServer;
using testing::HasSubstr;

TEST(EtcdBadServerTest, AnEndpointThatIsNotThereIsUnavailableInTime) {
  const std::uint16_t port = free_port();
  DriverBed bed{target_at(port)};
  const Error error = error_of(get(bed.put("k", "v", 300ms)));
  EXPECT_EQ(error.code, Errc::unavailable);
  EXPECT_THAT(error.message, HasSubstr("etcd 127.0.0.1:" + std::to_string(port) + ": "));
  EXPECT_THAT(error.message, HasSubstr("connection refused"));
  ASSERT_EQ(error.nodes.size(), 1U);
  EXPECT_EQ(error.nodes[0].node, "127.0.0.1:" + std::to_string(port));
}

TEST(EtcdBadServerTest, EveryEndpointIsNamed) {
  const std::uint16_t one = free_port();
  const std::uint16_t other = free_port();
  EtcdTarget target = target_at(one);
  target.endpoints.push_back({"127.0.0.1", other});
  DriverBed bed{target};
  const Error error = error_of(get(bed.put("k", "v", 300ms)));
  EXPECT_EQ(error.code, Errc::unavailable);
  EXPECT_THAT(error.message, HasSubstr(std::to_string(one)));
  EXPECT_THAT(error.message, HasSubstr(std::to_string(other)));
  EXPECT_EQ(error.nodes.size(), 2U);
}

TEST(EtcdBadServerTest, AHostNameThatDoesNotExistIsUnavailable) {
  EtcdTarget target;
  target.endpoints = {{"no-such-host.invalid", 2379}};
  DriverBed bed{target};
  const Error error = error_of(get(bed.put("k", "v", 2s)));
  EXPECT_EQ(error.code, Errc::unavailable);
  EXPECT_THAT(error.message, HasSubstr("no-such-host.invalid:2379: "));
}

struct NotEtcd {
  const char* name;
  const char* greeting;
  Errc code;
  const char* cause;
};

class EtcdNotEtcdTest : public testing::TestWithParam<NotEtcd> {};

TEST_P(EtcdNotEtcdTest, IsNamedInTime) {
  FakeServer server{GetParam().greeting, GetParam().greeting};
  EtcdTarget target = target_at(server.port());
  target.connect_timeout = 500ms;
  DriverBed bed{target};
  const Error error = error_of(get(bed.put("k", "v", 1500ms)));
  EXPECT_EQ(error.code, GetParam().code);
  EXPECT_THAT(error.message, HasSubstr("127.0.0.1:" + std::to_string(server.port()) + ": "));
  EXPECT_THAT(error.message, HasSubstr(GetParam().cause));
}

INSTANTIATE_TEST_SUITE_P(
    Servers,
    EtcdNotEtcdTest,
    testing::Values(NotEtcd{"Silent", "", Errc::unavailable, "is it etcd?"},
                    NotEtcd{"Http1",
                            "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n",
                            Errc::corrupt,
                            "is not etcd: it speaks HTTP/1"},
                    NotEtcd{"Redis",
                            "-ERR unknown command 'PRI'\r\n",
                            Errc::corrupt,
                            "is not etcd: it does not speak HTTP/2"}),
    [](const auto& test) { return std::string{test.param.name}; });

TEST(EtcdBadServerTest, AnotherGrpcServerIsNotEtcd) {
  int port = 0;
  // Knows no method.
  grpc::CallbackGenericService nothing;
  grpc::ServerBuilder builder;
  builder.RegisterCallbackGenericService(&nothing);
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  const auto server = builder.BuildAndStart();
  DriverBed bed{target_at(static_cast<std::uint16_t>(port))};
  const Error error = error_of(get(bed.put("k", "v")));
  EXPECT_EQ(error.code, Errc::corrupt) << error.message;
  EXPECT_THAT(error.message, HasSubstr("127.0.0.1:" + std::to_string(port) + ": is not etcd"));
  server->Shutdown();
}

TEST(EtcdBadServerTest, ABadEndpointDoesNotHideAGoodOne) {
  const EtcdCluster cluster;
  FakeServer http{"HTTP/1.1 400 Bad Request\r\n\r\n", ""};
  EtcdTarget target = target_at(free_port());
  target.endpoints.push_back({"127.0.0.1", http.port()});
  target.endpoints.push_back({"127.0.0.1", cluster.node(0).ports().clients});
  DriverBed bed{target};
  const auto answer = get(bed.put("k", "v"));
  EXPECT_TRUE(answer) << error_of(answer).message;
}

}  // namespace
}  // namespace holdfast::etcd
