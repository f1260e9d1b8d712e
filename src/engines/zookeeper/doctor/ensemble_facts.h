// What a doctor has read of a ZooKeeper ensemble. Empty: it could not be read.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/clock.h"

namespace holdfast::zookeeper {

/// Names and values, one line each, as servers answer to `conf` (`name=value`) and `mntr` (name, a
/// tab, value).
class ServerWords {
 public:
  /// Lines of another form are left out.
  static ServerWords read(std::string_view text);

  bool empty() const { return values_.empty(); }
  std::string text(const std::string& name) const;
  /// Empty: there is none of that name, or it is no number.
  std::optional<double> number(const std::string& name) const;
  /// How many `server.N=` there are that vote.
  std::size_t voters() const;

 private:
  std::map<std::string, std::string> values_;
};

/// How this machine reaches the ensemble.
struct EnsemblePath {
  /// Over the loopback network: nobody else listens in.
  bool stays_here{false};
  /// With a user's name.
  bool authenticated{false};
  /// What we create is for everybody.
  bool open_nodes{true};
};

/// Something that locks need and the ensemble refused.
struct NodeRefusal {
  /// `read`, `create` or `delete`.
  std::string what;
  /// In the server's words.
  std::string reason;
};

/// One server, asked by itself with four-letter words.
struct ServerFacts {
  /// As the URL has it.
  std::string endpoint;
  /// Why it did not answer. Empty: it did.
  std::string silence{};
  /// It answers, but does not tell.
  bool words_refused{false};
  /// `leader`, `follower`, `observer` or `standalone`; empty: it serves nobody.
  std::string mode{};
  std::string version{};
  ServerWords conf{};
  ServerWords monitor{};
};

struct EnsembleFacts {
  std::string prefix;
  /// Empty: nobody in particular.
  std::string user{};
  EnsemblePath path{};
  /// The servers of the URL.
  std::vector<ServerFacts> asked{};
  /// Of a change that a majority agrees to: the median of several.
  Duration round_trip{};
  /// What the shortest and the longest TTL become. 0: no session was granted.
  Millis ttl_min{0};
  Millis ttl_max{0};
  /// What locks are going to ask for. Empty: what is usual.
  std::optional<Millis> ttl_asked{};
  std::vector<NodeRefusal> refusals{};
};

}  // namespace holdfast::zookeeper
