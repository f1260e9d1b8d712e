// What is asked of a ZooKeeper ensemble and what it answers, as values.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "holdfast/clock.h"
#include "holdfast/result.h"

namespace holdfast::zookeeper {

/// Numbers the changes of the whole tree, in their order. Zero: never.
using Zxid = std::int64_t;

/// Of a node: how often its data was written since it was created.
using Version = std::int32_t;
inline constexpr Version kAnyVersion = -1;

/// Given by the server. Zero: none.
struct SessionId {
  std::int64_t number{0};
  friend constexpr auto operator<=>(SessionId, SessionId) = default;
};

/// Whoever has it may act as the session: a secret.
struct SessionKey {
  SessionId id{};
  std::string password{};
};

struct NodeStat {
  Zxid created{0};
  Zxid modified{0};
  Zxid children_modified{0};
  /// When the data was written last: since 1970, by the wall clock of the leader.
  Millis modified_at{0};
  Version version{0};
  /// How often children came and went. Sequential children are numbered by it; it wraps.
  std::int32_t children_version{0};
  std::int32_t children{0};
  std::int32_t data_size{0};
  /// Of an ephemeral node.
  SessionId owner{};
};

/// Paths are absolute and seen from the chroot of the URL.
struct Create {
  enum class Kind : std::uint8_t {
    persistent,
    ephemeral,
    persistent_sequential,
    ephemeral_sequential,
    /// Removed by the servers some time after its last child has gone.
    container,
  };

  std::string path;
  std::string data{};
  Kind kind{Kind::persistent};
};

struct Erase {
  std::string path;
  Version version{kAnyVersion};
};

struct Write {
  std::string path;
  std::string data{};
  Version version{kAnyVersion};
};

/// Of a Multi: that the node is there and has this version.
struct Check {
  std::string path;
  Version version{kAnyVersion};
};

/// All or nothing, and all under one Zxid. No containers.
struct Multi {
  using Step = std::variant<Create, Erase, Write, Check>;
  std::vector<Step> steps;
};

/// A watch is told once, with the first change that the server of the session sees after it has
/// answered. It outlives changes of the server, and ends with the session or by unwatch().
enum class Watching : std::uint8_t { no, yes };

/// From the session's own server: it may be behind others, but never behind what this session has
/// seen or written before.
struct Read {
  std::string path;
  Watching watching{Watching::no};
};

/// A watch of a node that is not there is told when it is created.
struct Exists {
  std::string path;
  Watching watching{Watching::no};
};

struct List {
  std::string path;
  Watching watching{Watching::no};
};

/// Answered when the session's server has caught up with what its leader had when it was asked.
/// It keeps the session alive like every request.
struct Sync {
  std::string path{"/"};
};

using Request = std::variant<Create, Erase, Write, Multi, Read, Exists, List, Sync>;

enum class Verdict : std::uint8_t {
  done,
  /// Of Create, too: the parent is not there.
  no_node,
  node_exists,
  bad_version,
  /// Of Erase: it has children.
  not_empty,
  /// Of Create: the parent is ephemeral.
  no_children_allowed,
  /// Of a step of a Multi that was not looked at, or was taken back, because another failed.
  not_done,
};

struct Answer {
  Verdict verdict{Verdict::done};
  /// Of Create: with the sequence number.
  std::string path{};
  /// Of Read.
  std::string data{};
  /// Of Write, Read, Exists and List, and of a Create that is not a step of a Multi.
  NodeStat stat{};
  /// Of List: names, in no order.
  std::vector<std::string> children{};
  /// Of Multi: one for each step. The verdict of the whole is that of the step that failed.
  std::vector<Answer> steps{};
};

struct SessionEvent {
  enum class Kind : std::uint8_t {
    /// The session is there, or there again: `key`, `timeout` and `asked_at` say how.
    connected,
    /// Its server is gone, or none was found at first; another is looked for. `error` says why.
    disconnected,
    /// It does not exist any more, nor do its nodes. Nothing more is told.
    expired,
    /// No server will serve it, now or later: `error` says why. Nothing more is told.
    refused,
    /// A watch: `path` was changed as `change` says.
    changed,
  };
  enum class Change : std::uint8_t { created, erased, data, children };

  Kind kind{Kind::connected};
  SessionKey key{};
  /// As the server granted it.
  Millis timeout{0};
  /// When the connection was asked for: the session lives on for `timeout` from then, at least.
  TimePoint asked_at{};
  std::string path{};
  Change change{Change::data};
  Error error{};
};

}  // namespace holdfast::zookeeper
