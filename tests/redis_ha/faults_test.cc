// What goes wrong with a server, as a program sees it: the error names the server and the cause, in
// time.

#include <gtest/gtest.h>

#include <memory>

#include "holdfast/client.h"
#include "tests/ports/redis_process.h"
#include "tests/ports/server_connection.h"
#include "tests/redis/certificates.h"
#include "tests/redis/fake_server.h"

namespace holdfast::ha {
namespace {

using namespace std::chrono_literals;
using ports::RedisProcess;

constexpr auto kTimeout = 2s;
constexpr auto kBusyMachine = 5s;

std::string node(const std::string& port) { return "127.0.0.1:" + port; }

/// An error that names the server and the cause.
void expect_error(const Error& error,
                  Errc code,
                  const std::string& server,
                  const std::string& cause) {
  EXPECT_EQ(error.code, code) << error.message;
  EXPECT_NE(error.message.find(server), std::string::npos) << error.message;
  EXPECT_NE(error.message.find(cause), std::string::npos) << error.message;
}

class FaultsTest : public testing::Test {
 protected:
  std::string url(const std::string& address) const { return "redis://" + address + "?timeout=2s"; }
  Client connect() const {
    auto client = Client::connect(url(node(port_)));
    if (!client) throw std::runtime_error{client.error().message};
    return *std::move(client);
  }
  /// What the operation answers, within the timeout and what a busy machine adds.
  static auto in_time(const auto& operation) {
    const TimePoint begin = BootClock::now();
    auto answer = operation();
    EXPECT_LT(BootClock::now() - begin, kTimeout + kBusyMachine);
    return answer;
  }
  /// Connecting fails, in time.
  static Error refusal(const std::string& at) {
    const auto client = in_time([&] { return Client::connect(at); });
    return client ? Error{Errc::internal, "connected"} : client.error();
  }
  /// Taking the lock fails, in time.
  static Error refused_lock(Client& client) {
    const auto lease = in_time([&] { return client.try_acquire("ledger"); });
    return lease ? Error{Errc::internal, "acquired"} : Error{lease.error()};
  }
  /// So does a write to the store.
  static Error refused_write(Client& client) {
    const auto written = in_time([&] { return client.store()->put("key", "value"); });
    return written ? Error{Errc::internal, "written"} : Error{written.error()};
  }
  redis::Reply command(const std::vector<std::string>& words) {
    return admin_.command(words).value();
  }

  const std::string port_{std::to_string(ports::free_port())};
  RedisProcess server_{{"--port", port_}};
  ports::ServerConnection admin_{server_.socket()};
};

TEST_F(FaultsTest, WrongPassword) {
  command({"CONFIG", "SET", "requirepass", "open sesame"});
  expect_error(refusal(url(":guessed@" + node(port_))), Errc::denied, node(port_), "WRONGPASS");
  expect_error(refusal(url(node(port_))), Errc::denied, node(port_), "NOAUTH");
  const Error error = refusal(url(":guessed@" + node(port_)));
  EXPECT_EQ(error.message.find("guessed"), std::string::npos) << error.message;
}

TEST_F(FaultsTest, WrongTypeAtTheKey) {
  Client client = connect();
  command({"RPUSH", "hf:ledger", "item"});
  expect_error(refused_lock(client), Errc::corrupt, node(port_), "WRONGTYPE");
  EXPECT_TRUE(client.try_acquire("other"));
}

TEST_F(FaultsTest, NoRedisServer) {
  redis::FakeServer server{"HTTP/1.1 400 Bad Request\r\n\r\n", ""};
  const std::string there = node(std::to_string(server.port()));
  expect_error(refusal(url(there)), Errc::unavailable, there, "does not speak the Redis protocol");
}

TEST_F(FaultsTest, NobodyThere) {
  server_.kill();
  expect_error(refusal(url(node(port_))), Errc::unavailable, node(port_), "connection refused");
  expect_error(refusal(url("no-such-host.invalid")),
               Errc::unavailable,
               "no-such-host.invalid:6379",
               "not found");
}

TEST_F(FaultsTest, ServerGoesWhileConnected) {
  Client client = connect();
  server_.kill();
  const Error refused = refused_lock(client);
  // The first attempt may have left on the connection that was about to break.
  EXPECT_TRUE(refused.code == Errc::unavailable || refused.code == Errc::unknown_outcome);
  expect_error(refused, refused.code, node(port_), "connection refused");
}

TEST_F(FaultsTest, ServerHangs) {
  Client client = connect();
  server_.pause();
  const Error refused = refused_lock(client);
  EXPECT_TRUE(refused.code == Errc::unavailable || refused.code == Errc::unknown_outcome);
  expect_error(refused, refused.code, node(port_), "");
  expect_error(refusal(url(node(port_))), Errc::unavailable, node(port_), "");
  server_.resume();
}

TEST_F(FaultsTest, CertificateOfAnotherName) {
  redis::Authority authority;
  authority.vouch_for("server", "DNS:elsewhere.example");
  const std::string port = std::to_string(ports::free_port());
  RedisProcess server{{"--tls-port",
                       port,
                       "--tls-ca-cert-file",
                       authority.ca_file(),
                       "--tls-cert-file",
                       authority.cert_file("server"),
                       "--tls-key-file",
                       authority.key_file("server"),
                       "--tls-auth-clients",
                       "no"}};
  const std::string there = "localhost:" + port;
  const Error error = refusal("rediss://" + there + "?timeout=2s&ca=" + authority.ca_file());
  expect_error(error, Errc::denied, there, "hostname mismatch");
}

TEST_F(FaultsTest, OutOfMemory) {
  Client client = connect();
  auto held = client.try_acquire("held", {.ttl = 1min});
  ASSERT_TRUE(held);
  command({"CONFIG", "SET", "maxmemory-policy", "noeviction"});
  command({"CONFIG", "SET", "maxmemory", "1"});
  expect_error(refused_lock(client), Errc::no_space, node(port_), "OOM");
  expect_error(refused_write(client), Errc::no_space, node(port_), "OOM");
  command({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_TRUE(client.try_acquire("ledger"));
  EXPECT_TRUE(held->renew());
}

TEST_F(FaultsTest, ReadOnlyReplica) {
  Client client = connect();
  command({"REPLICAOF", "127.0.0.1", "1"});
  expect_error(refused_lock(client), Errc::unavailable, node(port_), "READONLY");
  expect_error(refused_write(client), Errc::unavailable, node(port_), "READONLY");
}

}  // namespace
}  // namespace holdfast::ha
