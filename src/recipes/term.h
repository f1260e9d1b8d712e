// Term: one leadership, from being elected to its end.
//
// Thread safety: any thread. Lifetime: keeps the client's core alive.

#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "holdfast/election.h"
#include "recipes/deadline_watch.h"

namespace holdfast {

class Term {
 public:
  Term(Client client, std::string id, Lease lease, Millis grace);

  const std::string& id() const { return id_; }
  const Lease& lease() const { return *lease_; }
  const Client& client() const { return client_; }
  std::stop_token stop_token() const { return stop_.get_token(); }
  void request_stop() { stop_.request_stop(); }

  /// Calls back once if the lease is lost, now or later, on a thread of Holdfast's own.
  void on_lost(const std::function<void(LossReason)>& callback);
  /// No callback runs any more when this returns.
  void forget_on_lost();

  ReleaseOutcome step_down();
  void async_step_down(std::function<void(ReleaseOutcome)> callback);
  /// One of these was called, and there is nothing left to give up.
  bool is_leaving() const { return leaving_.load(); }

 private:
  Client client_;
  std::string id_;
  std::shared_ptr<Lease> lease_;
  std::atomic<bool> leaving_{false};
  std::stop_source stop_;
  std::stop_callback<std::function<void()>> when_lost_;
  recipes::DeadlineWatch when_due_;
};

}  // namespace holdfast
