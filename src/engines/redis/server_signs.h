// ServerSigns: by what a server is known, and what must have happened to it between two looks.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "core/renewer.h"
#include "engines/redis/redis_port.h"

namespace holdfast::redis {

/// As a server tells them in INFO. What it did not tell is empty or zero.
struct ServerSigns {
  /// Of the process: another one after every start.
  std::string run_id{};
  std::chrono::seconds uptime{0};
  /// Of the data: a replica has that of its master, and a new one when it takes over.
  std::string replication_id{};
  std::uint64_t evicted_keys{0};
  /// How often all keys were removed at once.
  std::uint64_t flushes{0};
  /// What its wall clock showed, between sending and hearing.
  std::chrono::microseconds wall_clock{0};
  TimePoint sent_at{};
  TimePoint heard_at{};
};

/// KEYS none, ARGV none. {INFO of server, replication, stats and commandstats, time in
/// microseconds}; empty texts where this user may not ask.
extern const Script kSignsScript;

/// Empty when the answer makes no sense, or the server does not say who it is.
std::optional<ServerSigns> read_signs(const Reply& reply, TimePoint sent_at, TimePoint heard_at);

/// What may have ended leases.
struct ServerChange {
  core::Fate fate;
  /// Fate::clock_stepped: how far its clock ran ahead of ours, at least.
  Duration ahead{0};
};

/// What happened to the server between two looks. Empty: nothing that shows.
std::optional<ServerChange> what_happened(const ServerSigns& before, const ServerSigns& after);

}  // namespace holdfast::redis
