#include "tests/ports/redis_cluster.h"

#include <poll.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "engines/redis/hash_slot.h"
#include "holdfast/clock.h"

namespace holdfast::ports {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> arguments_of(const RedisCluster::Shape& shape,
                                      std::uint16_t port,
                                      std::uint16_t bus) {
  std::vector<std::string> arguments{
      shape.listen, std::to_string(port), "--cluster-enabled", "yes"};
  arguments.insert(arguments.end(), {"--cluster-port", std::to_string(bus)});
  arguments.insert(arguments.end(), {"--cluster-node-timeout", "1000"});
  arguments.insert(arguments.end(), {"--repl-ping-replica-period", "1"});
  arguments.insert(arguments.end(), shape.arguments.begin(), shape.arguments.end());
  return arguments;
}

/// The slots of master `number` begin here.
std::size_t first_slot(std::size_t number, std::size_t masters) {
  return number * redis::kSlots / masters;
}

}  // namespace

RedisCluster::Node::Node(const Shape& shape, std::uint16_t port_in, std::uint16_t bus_in)
    : port{port_in},
      bus{bus_in},
      process{arguments_of(shape, port_in, bus_in)},
      connection{process.socket()} {}

RedisCluster::RedisCluster(Shape shape) : shape_{std::move(shape)} {
  // hiredis writes to connections that a node may have closed.
  std::signal(SIGPIPE, SIG_IGN);
  for (std::size_t i = 0; i < shape_.masters + shape_.replicas; ++i) {
    const std::uint16_t port = free_port();
    nodes_.emplace_back(shape_, port, free_port());
    nodes_.back().id = command(i, {"CLUSTER", "MYID"}).text;
  }
  share_slots();
  meet();
  follow();
}

void RedisCluster::share_slots() {
  for (std::size_t i = 0; i < shape_.masters; ++i) {
    const std::size_t first = first_slot(i, shape_.masters);
    const std::size_t last = first_slot(i + 1, shape_.masters) - 1;
    command(i, {"CLUSTER", "ADDSLOTSRANGE", std::to_string(first), std::to_string(last)});
    command(i, {"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
  }
}

void RedisCluster::meet() {
  for (std::size_t i = 1; i < size(); ++i) {
    const Node& other = nodes_[i];
    command(
        0, {"CLUSTER", "MEET", "127.0.0.1", std::to_string(other.port), std::to_string(other.bus)});
  }
  for (std::size_t i = 0; i < size(); ++i) {
    wait_until(i, {"CLUSTER", "INFO"}, "cluster_known_nodes:" + std::to_string(size()));
    wait_until(i, {"CLUSTER", "INFO"}, "cluster_state:ok");
  }
}

void RedisCluster::follow() {
  for (std::size_t i = shape_.masters; i < size(); ++i) {
    const std::string& master = nodes_[(i - shape_.masters) % shape_.masters].id;
    for (std::size_t other = 0; other < size(); ++other) {
      wait_until(other, {"CLUSTER", "NODES"}, nodes_[i].id);
    }
    command(i, {"CLUSTER", "REPLICATE", master});
    for (std::size_t other = 0; other < size(); ++other) {
      wait_until(other, {"CLUSTER", "NODES"}, "slave " + master);
    }
    wait_until(i, {"INFO", "replication"}, "master_link_status:up");
  }
}

void RedisCluster::wait_until(std::size_t number,
                              const std::vector<std::string>& words,
                              const std::string& state) {
  const TimePoint end = BootClock::now() + 30s;
  while (BootClock::now() < end) {
    if (command(number, words).text.find(state) != std::string::npos) return;
    poll(nullptr, 0, /*timeout=*/5);
  }
  std::fprintf(stderr, "the cluster does not come to %s\n", state.c_str());
  std::abort();
}

std::string RedisCluster::addresses() const {
  std::string text;
  for (std::size_t i = 0; i < shape_.masters; ++i) {
    text += (i == 0 ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(port(i));
  }
  return text;
}

redis::Reply RedisCluster::command(std::size_t number, const std::vector<std::string>& words) {
  auto reply = nodes_[number].connection.command(words);
  return reply ? *std::move(reply) : redis::Reply::of_error(reply.error().message);
}

std::size_t RedisCluster::master_of(const std::string& key) const {
  const std::size_t slot = redis::hash_slot(key);
  std::size_t number = 0;
  while (slot >= first_slot(number + 1, shape_.masters)) ++number;
  return number;
}

}  // namespace holdfast::ports
