// FaultProxy: stands between a client and a server's socket, and does to what passes what networks
// do.

#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace holdfast::servers {

/// Listens on a loopback port of its own. Thread safety: its members are called by one thread.
class FaultProxy {
 public:
  /// Before a server on a Unix socket, or on a loopback port.
  explicit FaultProxy(std::string server_socket) : FaultProxy{std::move(server_socket), 0} {}
  explicit FaultProxy(std::uint16_t server_port) : FaultProxy{{}, server_port} {}
  ~FaultProxy();
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;

  std::uint16_t port() const { return port_; }
  std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }

  /// From now on requests arrive and their replies are kept, until deliver() or heal().
  void hold_replies() { set(Fault::hold); }
  /// What was kept arrives, and everything after it passes.
  void deliver() { set(Fault::none); }
  /// From now on every connection ends at once.
  void refuse() { set(Fault::refuse); }
  /// Ends every connection, with whatever was kept for it. New ones are served again.
  void heal();

  /// How many connections were made since it was started.
  int connections() const { return connections_; }
  /// How many of them are there.
  int open_connections() const { return open_connections_; }

 private:
  enum class Fault : std::uint8_t { none, hold, refuse };

  struct Pair {
    int client;
    int server;
    std::string kept;
  };

  FaultProxy(std::string server_socket, std::uint16_t server_port);
  void set(Fault fault);
  void run();
  void step();
  void accept_one(Fault fault);
  static bool pass_request(Pair& pair);
  static bool take_reply(Pair& pair);
  static void close_pair(const Pair& pair);

  /// Empty: it is server_port_.
  std::string server_socket_;
  std::uint16_t server_port_;
  std::uint16_t port_{0};
  int listener_{-1};
  /// Becomes readable when the thread is to look at its orders again.
  int orders_{-1};
  std::atomic<int> connections_{0};
  std::atomic<int> open_connections_{0};
  std::atomic<Fault> fault_{Fault::none};
  std::atomic<bool> cut_{false};
  std::atomic<bool> ending_{false};
  std::vector<Pair> pairs_;
  std::thread thread_;
};

}  // namespace holdfast::servers
