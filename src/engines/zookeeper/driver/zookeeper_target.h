// ZookeeperTarget: which ZooKeeper ensemble to talk to, as whom, and with how much patience.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/backoff.h"
#include "core/server_url.h"
#include "holdfast/clock.h"

namespace holdfast::zookeeper {

using core::Endpoint;

/// Who may do what with the nodes we create.
enum class Acl : std::uint8_t {
  /// Everybody everything.
  open,
  /// Only whoever has our user and password.
  creator,
};

struct ZookeeperTarget {
  /// Servers of one ensemble; any of them is asked first. Not empty.
  std::vector<Endpoint> endpoints{};
  /// Of the scheme digest. Empty: nobody in particular.
  std::string user{};
  std::string password{};
  /// Put before every path: empty, or an absolute path.
  std::string chroot{};
  Acl acl{Acl::open};
  /// How long one server may take until it has answered for the first time.
  Duration connect_timeout{std::chrono::seconds{5}};
};

struct ZookeeperDriverSettings {
  /// Between rounds of attempts to connect.
  BackoffPolicy backoff{.max = std::chrono::milliseconds{500}};
  /// Servers hang up on requests of more bytes: jute.maxbuffer, unless they are told otherwise.
  std::size_t max_request{0xfffff};
};

}  // namespace holdfast::zookeeper
