// PostgresTarget: which PostgreSQL server to talk to, as whom, and with how much patience.

#pragma once

#include <cstdint>
#include <optional>

#include "base/backoff.h"
#include "engines/postgres/driver/conninfo.h"
#include "holdfast/clock.h"

namespace holdfast::postgres {

/// What a pooler between us and the server, if there is one, gives to a connection.
enum class Pooling : std::uint8_t {
  /// Perhaps another backend for every transaction. Whether there is a pooler is found out.
  transaction,
  /// A backend of its own, by the user's word.
  session,
};

struct PostgresTarget {
  Parameters parameters{};
  /// Of the server itself, when `parameters` lead to a pooler.
  std::optional<Parameters> direct{};
  Pooling pooling{Pooling::transaction};
  /// How long connecting may take, with all hosts that are tried.
  Duration connect_timeout{std::chrono::seconds{5}};
};

struct PostgresDriverSettings {
  /// Between rounds of attempts to connect.
  BackoffPolicy backoff{.max = std::chrono::milliseconds{500}};
  /// For statements outside of sessions.
  std::size_t max_connections{4};
  /// All but one of these are closed when nobody has used them for as long.
  Duration kept_idle{std::chrono::seconds{30}};
  /// A connection on which a statement is overdue and nothing was heard for as long is given up.
  Duration silence{std::chrono::seconds{1}};
  /// Within about that time either side notices that the host of the other has vanished. Whole
  /// seconds of two at least, as TCP has it. A server that is asked to is told by keep-alives, too.
  Duration vanished_after{std::chrono::seconds{5}};
  /// How often a server looks, while it runs a statement, whether we are still there.
  Millis looks_for_us{250};
};

}  // namespace holdfast::postgres
