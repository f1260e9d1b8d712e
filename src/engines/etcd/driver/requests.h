// Requests: unary calls on their way, at the endpoint of now.
//
// Thread safety: as Env.

#pragma once

#include <deque>
#include <memory>

#include "base/due_timer.h"
#include "engines/etcd/driver/route.h"

namespace holdfast::etcd {

class Requests final : public RequestKeeper, public RouteUser {
 public:
  Requests(Env& env, Route& route, CompletionLoop& loop, Cancellables& calls);

  /// Sends it, or lets it wait for an endpoint until its deadline.
  template <class Answer, class Wire, class OnEnd>
  void send(const char* method, Wire wire, TimePoint answer_by, OnEnd on_end) {
    send(make_request<Answer>(*this, answer_by, method, std::move(wire), std::move(on_end)));
  }
  /// The same at that endpoint alone, whether or not it is the one of now.
  template <class Answer, class Wire, class OnEnd>
  void send_to(
      std::size_t endpoint, const char* method, Wire wire, TimePoint answer_by, OnEnd on_end) {
    direct_.send(
        make_request<Answer>(direct_, answer_by, method, std::move(wire), std::move(on_end)),
        route_.attempt_at(endpoint));
  }

  /// Attempts so far.
  std::uint64_t sent() const { return sent_; }

  bool wants() const override { return !waiting_.empty(); }
  void on_ready() override;
  void on_moved(const Error&) override {}
  void on_refused(const Error& why) override;

 private:
  /// Looks after what goes to one endpoint alone.
  class Direct final : public RequestKeeper {
   public:
    explicit Direct(Requests& all) : all_{all} {}
    void send(std::unique_ptr<Request> request, Request::Attempt attempt);
    void ended(std::unique_ptr<Request> request) override;

   private:
    Requests& all_;
  };

  void send(std::unique_ptr<Request> request);
  void begin(std::unique_ptr<Request> request, Request::Attempt attempt);
  void ended(std::unique_ptr<Request> request) override;
  void wait(std::unique_ptr<Request> request);
  void fail_overdue();

  Env& env_;
  Route& route_;
  CompletionLoop& loop_;
  Cancellables& calls_;
  Direct direct_{*this};
  std::deque<std::unique_ptr<Request>> waiting_;
  DueTimer deadline_timer_;
  std::uint64_t sent_{0};
};

}  // namespace holdfast::etcd
