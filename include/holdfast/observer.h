// What happens to the locks of a client, told to whoever asks.
//
//     auto metrics = std::make_shared<holdfast::Metrics>();         // holdfast/metrics.h
//     auto client = holdfast::observed(*plain, metrics);
//     auto lease = client.acquire("reports/daily");                 // counted and timed
//
// Events have the shape of OpenTelemetry's: a name, a severity and attributes (to_json). None has a
// field for an owner's secret or a password, so that no sink can give one away.
//
// A client that nobody observes pays nothing. On `local:` an observed one reads the clock for every
// wait, but for the end of a hold at most once per millisecond and thread: other holds are counted
// and not timed.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "holdfast/client.h"
#include "holdfast/lease.h"

namespace holdfast {

enum class EventKind : std::uint8_t {
  /// A lock was granted.
  acquired,
  /// An acquisition gave no lease: `error`.
  refused,
  /// A lease was renewed, by the program or by the engine in the background; or the program tried
  /// to: `error`.
  renewed,
  /// Renewal is overdue. On `local:` told of leases that have an on_event() alone.
  jeopardy,
  /// A lease ended before its release: `reason`. Told once, at its release at the latest.
  lost,
  /// A program released its lease, or let go of one that was lost: `outcome`.
  released,
  /// A program let go of a detached lease, which lives on.
  detached,
  /// A lock was taken from its holders by force.
  broken,
  /// The store refused an operation of a holder that another has overtaken: `error`.
  stale,
  /// Somebody else changed a key of the store first: `error`.
  conflict,
};

/// "holdfast.lock.acquired" and so on; "holdfast.store.stale" and "holdfast.store.conflict".
std::string_view to_string(EventKind kind) noexcept;

/// The views and the error are good during the call that gets the event.
struct Event {
  EventKind kind{EventKind::acquired};
  Mode mode{Mode::exclusive};
  /// acquired: somebody had the lock, or was before this one in line.
  bool contended{false};
  /// lost.
  LossReason reason{LossReason::none};
  /// released.
  ReleaseOutcome outcome{ReleaseOutcome::released};
  /// The lock; of store events the key.
  std::string_view name{};
  /// The engine's URL, without credentials.
  std::string_view engine{};
  /// Zero: not known.
  Token token{0};
  /// acquired, refused: from asking to the answer. On `local:` zero if nobody was in the way.
  Duration waited{0};
  /// released, detached: how long the lease was held, where that was timed.
  std::optional<Duration> held{};
  /// acquired: how long after its release by this process the lock was had, where that was seen.
  std::optional<Duration> hand_over{};
  const Error* error{nullptr};
  /// acquired, refused: as the caller gave it.
  std::string_view trace_id{};
};

/// One line of JSON without its end: an OpenTelemetry log record (time_unix_nano, severity_text,
/// event_name, trace_id, attributes), as of now.
std::string to_json(const Event& event);

/// Gets every event of the clients it observes.
class Observer {
 public:
  virtual ~Observer() = default;

  /// On the thread it happened on, any thread, several at once. It must neither block for long nor
  /// use the client it observes.
  virtual void observe(const Event& event) noexcept = 0;
};

/// The client, with everything done through it or its leases and stores told to `observer`, which
/// is kept as long as the engine. What `client` itself and its other copies do is not told. An
/// observed client can be observed by one more.
Client observed(const Client& client, std::shared_ptr<Observer> observer);

/// Appends one line of to_json() per event to a file, made with mode 0600 if it is not there: each
/// line with one write(2), so that processes can share it. A line that cannot be written is left
/// out. io_error, denied: the file cannot be opened.
Result<std::shared_ptr<Observer>> json_log(const std::string& path);

}  // namespace holdfast
