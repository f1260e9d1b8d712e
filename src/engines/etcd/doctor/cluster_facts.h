// What a doctor has read of an etcd cluster. Empty: it could not be read.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engines/etcd/doctor/metrics.h"
#include "engines/etcd/etcd_messages.h"
#include "holdfast/clock.h"

namespace holdfast::etcd {

/// How this machine reaches the cluster.
struct Path {
  /// Over the loopback network: nobody else listens in.
  bool stays_here{false};
  bool encrypted{false};
  /// With a user's name, or a certificate of its own.
  bool authenticated{false};
};

/// Something that locks need and the cluster refused.
struct Refusal {
  /// `read`, `write`, `lease` or `watch`.
  std::string what;
  /// In the server's words.
  std::string reason;
};

/// One server, asked by itself.
struct MemberFacts {
  /// As the URL has it.
  std::string endpoint;
  /// Why it did not answer. Empty: it did.
  std::string silence{};
  std::string version{};
  std::uint64_t id{0};
  /// 0: it follows nobody.
  std::uint64_t leader{0};
  bool is_learner{false};
  std::int64_t database_bytes{0};
  Metrics metrics{};
  /// By this machine's clock, in seconds since 1970, when they were read.
  double read_at{0};
};

/// One of the cluster's own list.
struct ListedMember {
  std::uint64_t id{0};
  std::string name{};
  /// Where clients find it. Empty: it never started.
  std::vector<std::string> client_urls{};
};

struct Alarm {
  enum class Kind : std::uint8_t { no_space, corrupt };

  std::uint64_t member{0};
  Kind kind{Kind::no_space};
};

struct ClusterFacts {
  std::string prefix;
  /// Empty: nobody in particular.
  std::string user{};
  Path path{};
  /// The endpoints of the URL.
  std::vector<MemberFacts> asked{};
  /// How many members vote. 0: nobody told.
  std::size_t voters{0};
  /// All members. Empty: nobody told.
  std::vector<ListedMember> listed{};
  std::vector<Alarm> alarms{};
  /// Of a read that the leader confirms with a majority: the median of several.
  Duration round_trip{};
  Revision revision{0};
  /// What a lease of one second gets. 0: none was granted.
  Seconds ttl_min{0};
  /// What locks are going to ask for. Empty: what is usual.
  std::optional<Millis> ttl_asked{};
  std::vector<Refusal> refusals{};
};

}  // namespace holdfast::etcd
