// Route: which endpoint is asked now, and as whom.
//
// One endpoint at a time: the one that answered last. An endpoint is greeted before anything is
// sent to it, so that requests only leave to a server that is etcd, follows a leader and knows us.
// One that fails is left for the next; when all have failed, the round begins again after a while.
//
// Thread safety: as Env.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/backoff.h"
#include "base/due_timer.h"
#include "engines/etcd/driver/channel.h"
#include "engines/etcd/driver/request.h"

namespace holdfast::etcd {

/// What travels along the route.
class RouteUser {
 public:
  virtual ~RouteUser() = default;
  /// Whether there is anything to send.
  virtual bool wants() const = 0;
  /// Requests may leave. Also told when only the token is new.
  virtual void on_ready() = 0;
  /// The endpoint is given up, and what is open there should be too.
  virtual void on_moved(const Error& why) = 0;
  /// Nobody lets us in, until somebody changes something.
  virtual void on_refused(const Error& why) = 0;
};

class Route final : public RequestKeeper {
 public:
  Route(Env& env,
        const EtcdTarget& target,
        const Credentials& credentials,
        const EtcdDriverSettings& settings,
        CompletionLoop& loop,
        Cancellables& calls);

  /// Users outlive the route's last event.
  void add_user(RouteUser& user) { users_.push_back(&user); }

  bool is_ready() const { return state_ == State::ready; }
  /// Counts the endpoints we came to.
  std::uint64_t visit() const { return visit_; }
  bool has_credentials() const { return !user_.empty(); }

  /// Somebody has something to send.
  void want();
  /// The endpoint of that visit does not do what it should.
  void doubt(std::uint64_t visit, const Error& why);
  /// What was sent there at `sent` was not answered in time. A reason to doubt it only where
  /// nothing else was heard for a while either, or when it happens again and again.
  void overdue(std::uint64_t visit, TimePoint sent, const Error& why);
  /// It answers a request.
  void confirm() {
    hear();
    overdue_ = 0;
  }
  /// It says something.
  void hear() {
    last_heard_ = env_.now();
    doubts_ = 0;
  }
  /// The token of that number is not good any more.
  void renew_token(std::uint64_t number);

  /// For an attempt at the endpoint of now. Precondition: is_ready().
  Request::Attempt attempt() const;
  /// The same at any of them.
  Request::Attempt attempt_at(std::size_t number) const;
  /// Says who we are, and that the server must follow a leader.
  void sign(grpc::ClientContext& context) const;

  std::size_t size() const { return sites_.size(); }
  const std::string& name(std::size_t number) const { return sites_[number].name; }
  /// Why nothing can be sent: what every endpoint said last.
  Error why_not() const;

 private:
  enum class State : std::uint8_t { idle, greeting, pausing, ready };
  struct Site {
    std::string name;
    std::shared_ptr<grpc::Channel> channel;
    /// What it said when it failed last.
    Error error{Errc::unavailable, ""};
    bool is_lasting{false};
  };

  void ended(std::unique_ptr<Request> request) override;
  std::unique_ptr<Request> make_greeting();
  void greet();
  void arrive();
  void fail_here(const Failure& failure);
  void end_round();
  void give_up(const Error& why);
  void pause(const BackoffPolicy& policy);
  void on_pause_over();
  bool is_wanted() const;
  void go_on_to_next() { current_ = (current_ + 1) % sites_.size(); }

  Env& env_;
  CompletionLoop& loop_;
  Cancellables& calls_;
  BackoffPolicy backoff_;
  Duration patience_;
  std::string user_;
  std::string password_;
  std::vector<Site> sites_;
  std::vector<RouteUser*> users_;

  State state_{State::idle};
  std::size_t current_{0};
  /// Endpoints that failed in this round.
  std::size_t tried_{0};
  std::uint32_t rounds_{0};
  /// Endpoints that failed after their greeting, since one did as it should.
  std::size_t doubts_{0};
  /// Requests that were not answered in time, since one was.
  int overdue_{0};
  TimePoint last_heard_{TimePoint::min()};
  std::uint64_t visit_{0};
  std::string token_;
  std::uint64_t token_number_{0};
  /// Whether the servers want to know who we are.
  bool is_auth_on_{true};
  /// The greeting is for the sake of the token alone: streams stay as they are.
  bool is_renewing_{false};
  DueTimer pause_timer_;
  TimePoint pause_until_{};
};

}  // namespace holdfast::etcd
