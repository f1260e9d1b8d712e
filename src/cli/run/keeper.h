// Takes the leases of a run and renews them, on a thread of its own, until told to stop.
//
// The leases are detached: should this process be killed, the locks stay taken until the guardian
// has ended the program, or the TTL is over.
//
// Thread safety: all members are called by one thread, the supervisor's.

#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "cli/run/boot_timer.h"
#include "cli/run/run_options.h"
#include "cli/run/shared_run.h"
#include "core/session_clock.h"
#include "holdfast/client.h"
#include "holdfast/interval.h"
#include "holdfast/multi_lock.h"

namespace holdfast::cli {

/// A granted lease, as far as the program and the guardian need to know it.
struct Grant {
  std::string name;
  Token token;
  Owner owner;
  Millis ttl;
  std::string sequencer;
};

class Keeper {
 public:
  enum class News { none, granted, refused, lost, unwanted };

  /// `options` and `shared` must outlive this.
  Keeper(const RunOptions& options, SharedRun& shared);
  ~Keeper();
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  /// Connects and queues. News follow: granted or refused, and after granted perhaps lost, and
  /// perhaps unwanted: somebody else is to have the lock.
  void start();
  /// Readable when there are news.
  int fd() const { return news_ready_.get(); }
  /// The news not taken yet, one at a time.
  News take_news();

  /// Stops waiting for the lock. News follow: refused, or granted if that came first.
  void cancel();
  /// Stops renewing. The deadline published last stands.
  void stop();
  /// What becomes of the interval of a run that has one.
  enum class Interval { stays, given_back };

  /// Gives the locks up. Precondition: stop() was called, and granted was among the news.
  ReleaseOutcome release(Interval interval);
  /// Leaves the leases to end by themselves. Precondition as release().
  void abandon();

  // Valid once granted, and refused, and lost, and unwanted, were among the news.
  /// In the order of RunOptions::names.
  const std::vector<Grant>& grants() const { return grants_; }
  /// The engine's URL, complete and without credentials.
  const std::string& engine() const { return engine_; }
  const Error& refusal() const { return refusal_; }
  const Error& loss() const { return loss_; }
  /// Who is to have the lock.
  const std::string& successor() const { return successor_; }

 private:
  void keep();
  std::optional<core::SessionClock> acquire();
  /// Empty: everything is held.
  std::optional<Error> take(Client& client);
  std::optional<Error> take_interval(Client& client);
  void note_grants();
  void heed();
  MultiLease& lease() { return interval_ ? interval_->lease() : *lease_; }
  void renew_until_stopped(core::SessionClock clock);
  /// False when the lease is lost.
  bool renew(core::SessionClock& clock);
  enum class Woken { renew, stopped, lost };
  Woken sleep_until(TimePoint at);
  void tell(News news);

  const RunOptions& options_;
  SharedRun& shared_;
  UniqueFd news_ready_;
  UniqueFd stop_;
  /// Readable once the engine said that the lease is lost.
  UniqueFd lost_;
  BootTimer timer_;
  std::stop_source waiting_;
  std::optional<Client> client_;
  /// One of the two, once granted.
  std::optional<MultiLease> lease_;
  std::optional<IntervalRun> interval_;
  std::optional<std::stop_callback<std::function<void()>>> on_lost_;
  std::shared_ptr<void> heeding_;
  std::vector<Grant> grants_;
  std::string engine_;
  Error refusal_;
  Error loss_;
  std::string successor_;
  std::mutex mutex_;
  std::vector<News> news_;
  std::thread thread_;
};

}  // namespace holdfast::cli
