// FakeServer: a listener that answers whatever it is sent with the same bytes.

#pragma once

#include <cstdint>
#include <string>
#include <thread>

namespace holdfast::redis {

/// Serves one connection at a time on a loopback port of its own. Thread safety: none.
class FakeServer {
 public:
  /// `greeting` is the answer to the first bytes of a connection, `answer` to all later ones. An
  /// empty answer is silence.
  FakeServer(std::string greeting, std::string answer);
  ~FakeServer();
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  std::uint16_t port() const { return port_; }

 private:
  void serve();
  void serve_one(int connection);

  std::string greeting_;
  std::string answer_;
  int listener_{-1};
  /// Becomes readable when the server is to end.
  int end_{-1};
  std::uint16_t port_{0};
  std::thread thread_;
};

}  // namespace holdfast::redis
