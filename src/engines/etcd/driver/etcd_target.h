// EtcdTarget: which etcd cluster to talk to, as whom, and with how much patience.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/backoff.h"
#include "core/server_url.h"
#include "holdfast/clock.h"

namespace holdfast::etcd {

/// How to encrypt, and whom to trust. Files are PEM.
struct TlsSettings {
  /// Whose signature makes a server's certificate good. Empty: the system's authorities.
  std::string ca_file{};
  /// What this client shows to a server that asks. Both or neither.
  std::string cert_file{};
  std::string key_file{};
  /// The name or address that a server's certificate must bear. Empty: that of the endpoint.
  std::string server_name{};
};

using core::Endpoint;

struct EtcdTarget {
  /// Members of one cluster; the first is asked first. Not empty.
  std::vector<Endpoint> endpoints{};
  /// Empty: nobody in particular.
  std::string user{};
  std::string password{};
  /// Empty: not encrypted.
  std::optional<TlsSettings> tls{};
  /// How long an endpoint may take until it has answered for the first time.
  Duration connect_timeout{std::chrono::seconds{5}};
};

struct EtcdDriverSettings {
  /// Between rounds of attempts to connect.
  BackoffPolicy backoff{.max = std::chrono::milliseconds{500}};
  /// How often a connection in use is tried by a ping. Servers end connections that are tried more
  /// often than every five seconds, unless they are told otherwise.
  Duration ping_every{std::chrono::seconds{10}};
};

}  // namespace holdfast::etcd
