// What a doctor has read of a PostgreSQL server.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "holdfast/clock.h"

namespace holdfast::postgres {

/// How the program will use it.
enum class Usage : std::uint8_t { lease, advisory };

/// The schema, as this role sees it.
enum class SchemaState : std::uint8_t {
  usable,
  missing,
  /// It is there, and this role may not use it.
  denied,
  older,
  newer,
};

struct ServerFacts {
  Usage usage{Usage::lease};
  /// How messages name it.
  std::string server;
  std::string role{};
  /// Settings by name, such as `fsync`, as this session has them. What is not there could not be
  /// read.
  std::map<std::string, std::string> settings{};

  /// There is a pooler between, and no way past it is known.
  bool pooled{false};
  bool in_recovery{false};
  /// Over the loopback network or a Unix socket: nobody else listens in.
  bool stays_here{false};
  bool encrypted{false};
  bool superuser{false};
  /// Replicas that stream from it.
  std::int64_t replicas{0};
  std::int64_t connections{0};

  SchemaState schema{SchemaState::missing};
  std::int32_t schema_version{0};
  bool may_create_schema{false};

  Duration round_trip{};
  /// By how much the server's clock is ahead of this machine's; negative: behind. Empty: not asked.
  std::optional<Millis> clock_ahead{};

  /// Empty: there is no such setting.
  std::string setting(const std::string& name) const {
    const auto found = settings.find(name);
    return found == settings.end() ? std::string{} : found->second;
  }
};

}  // namespace holdfast::postgres
