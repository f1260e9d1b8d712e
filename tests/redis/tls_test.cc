// Encrypted connections: who trusts whom.

#include <gtest/gtest.h>

#include "tests/ports/redis_process.h"
#include "tests/redis/certificates.h"
#include "tests/redis/driver_bed.h"
#include "tests/redis/fake_server.h"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using ports::free_port;
using ports::RedisProcess;

Error error_of(const Result<Reply>& reply) {
  return reply ? Error{Errc::internal, "answered"} : reply.error();
}

class TlsTest : public testing::Test {
 protected:
  TlsTest() {
    authority_.vouch_for("server", "DNS:localhost,IP:127.0.0.1");
    authority_.vouch_for("client", "DNS:client");
    start_server("no");
  }

  void start_server(const std::string& client_certificates) {
    const std::vector<std::string> arguments{"--tls-port",
                                             std::to_string(port_),
                                             "--tls-cert-file",
                                             authority_.cert_file("server"),
                                             "--tls-key-file",
                                             authority_.key_file("server"),
                                             "--tls-ca-cert-file",
                                             authority_.ca_file(),
                                             "--tls-auth-clients",
                                             client_certificates};
    server_.reset();
    server_ = std::make_unique<RedisProcess>(arguments);
  }

  RedisTarget target(TlsSettings tls, const std::string& host = "127.0.0.1") const {
    return {.host = host, .port = port_, .tls = std::move(tls)};
  }

  Authority authority_;
  const std::uint16_t port_{free_port()};
  std::unique_ptr<RedisProcess> server_;
};

TEST_F(TlsTest, RequestsAndSubscriptionsAreCarried) {
  for (const char* host : {"127.0.0.1", "localhost"}) {
    DriverBed bed{target({.ca_file = authority_.ca_file()}, host)};
    const std::string large(300'000, 'x');
    EXPECT_EQ(get(bed.echo(large)).value(), Reply::of_text(large)) << host;
    auto answers = bed.echo_many(200);
    for (int i = 0; i < 200; ++i) {
      EXPECT_EQ(get(std::move(answers[i])).value(), Reply::of_text(std::to_string(i)));
    }
    Ear ear;
    bed.on_env([&] { bed.driver()->subscribe("c", ear.on_heard()); });
    EXPECT_EQ(ear.next(), "listening");
    ASSERT_TRUE(get(bed.command({"PUBLISH", "c", "news"})));
    EXPECT_EQ(ear.next(), "message:news");
  }
}

TEST_F(TlsTest, AServerNobodyVouchesForIsDenied) {
  Authority other;
  DriverBed bed{target({.ca_file = other.ca_file()})};
  const Error error = error_of(get(bed.echo("x")));
  EXPECT_EQ(error.code, Errc::denied);
  EXPECT_NE(error.message.find("certificate"), std::string::npos) << error.message;
  EXPECT_NE(error.message.find("127.0.0.1:" + std::to_string(port_)), std::string::npos);
}

TEST_F(TlsTest, AServerOfAnotherNameIsDenied) {
  DriverBed bed{target({.ca_file = authority_.ca_file(), .server_name = "redis.example"})};
  const Error error = error_of(get(bed.echo("x")));
  EXPECT_EQ(error.code, Errc::denied);
  EXPECT_NE(error.message.find("'redis.example': hostname mismatch"), std::string::npos)
      << error.message;
}

TEST_F(TlsTest, TheNameToCheckNeedNotBeTheHost) {
  DriverBed bed{target({.ca_file = authority_.ca_file(), .server_name = "localhost"})};
  EXPECT_TRUE(get(bed.echo("x")));
}

TEST_F(TlsTest, AServerThatAsksForACertificateGetsIt) {
  start_server("yes");
  DriverBed without{target({.ca_file = authority_.ca_file()})};
  const Error error = error_of(get(without.echo("x")));
  EXPECT_EQ(error.code, Errc::denied);
  EXPECT_NE(error.message.find("certificate required"), std::string::npos) << error.message;

  DriverBed with{target({.ca_file = authority_.ca_file(),
                         .cert_file = authority_.cert_file("client"),
                         .key_file = authority_.key_file("client")})};
  EXPECT_TRUE(get(with.echo("x")));
}

TEST_F(TlsTest, AServerThatAnswersSomethingElseIsNamedAtOnce) {
  FakeServer plain{"-ERR what?\r\n", ""};
  RedisTarget wrong = target({.ca_file = authority_.ca_file()});
  wrong.port = plain.port();
  DriverBed bed{wrong};
  const Error error = error_of(get(bed.echo("x")));
  EXPECT_EQ(error.code, Errc::unavailable);
  EXPECT_NE(error.message.find("does not speak TLS"), std::string::npos) << error.message;
}

// Redis takes the beginning of a handshake for half a command and waits for the rest.
TEST_F(TlsTest, AServerWithoutTlsDoesNotShakeHands) {
  const std::uint16_t port = free_port();
  RedisProcess plain{{"--port", std::to_string(port)}};
  RedisTarget wrong = target({.ca_file = authority_.ca_file()});
  wrong.port = port;
  wrong.connect_timeout = 200ms;
  DriverBed bed{wrong};
  const Error error = error_of(get(bed.echo("x", 1s)));
  EXPECT_EQ(error.code, Errc::unavailable);
  EXPECT_NE(error.message.find("no TLS handshake in time"), std::string::npos) << error.message;
}

TEST_F(TlsTest, WithoutTlsAServerThatWantsItIsUnavailable) {
  DriverBed bed{{.host = "127.0.0.1", .port = port_}};
  const Error error = error_of(get(bed.echo("x", 1s)));
  EXPECT_EQ(error.code, Errc::unavailable);
  EXPECT_NE(error.message.find("127.0.0.1:" + std::to_string(port_)), std::string::npos)
      << error.message;
}

TEST_F(TlsTest, AFileThatCannotBeUsedIsNamed) {
  const auto env = *runtime::AsioEnv::create();
  const std::string absent = "/nonexistent/ca.pem";
  const auto driver = RedisDriver::create(*env, target({.ca_file = absent}));
  ASSERT_FALSE(driver);
  EXPECT_EQ(driver.error().code, Errc::invalid_argument);
  EXPECT_NE(driver.error().message.find(absent), std::string::npos);
}

}  // namespace
}  // namespace holdfast::redis
