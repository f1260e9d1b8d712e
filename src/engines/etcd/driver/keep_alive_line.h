// KeepAliveLine: renewals of all leases, over one stream.
//
// Thread safety: as Env.

#pragma once

#include <deque>
#include <memory>

#include "base/due_timer.h"
#include "engines/etcd/driver/route.h"
#include "engines/etcd/driver/stream.h"
#include "engines/etcd/driver/wire.h"
#include "engines/etcd/etcd_port.h"

namespace holdfast::etcd {

class KeepAliveLine final
    : public RouteUser,
      public Stream<wire::LeaseKeepAliveRequest, wire::LeaseKeepAliveResponse>::Owner {
 public:
  KeepAliveLine(Env& env, Route& route, CompletionLoop& loop, Cancellables& calls);

  void keep_alive(LeaseId lease, TimePoint answer_by, OnLease on_answer);

  /// Messages so far.
  std::uint64_t written() const { return written_; }

  bool wants() const override { return !waiting_.empty(); }
  void on_ready() override;
  void on_moved(const Error& why) override;
  void on_refused(const Error& why) override;

 private:
  using Line = Stream<wire::LeaseKeepAliveRequest, wire::LeaseKeepAliveResponse>;
  struct Ask {
    LeaseId lease;
    TimePoint answer_by;
    OnLease on_answer;
  };
  using Asks = std::deque<Ask>;

  void on_message(wire::LeaseKeepAliveResponse& message) override;
  void on_end(const grpc::Status& status) override;

  void open();
  void write(Ask ask);
  void break_off(const Error& why);
  void fail_overdue();
  static void fail(Asks asks, const Error& why);

  Env& env_;
  Route& route_;
  CompletionLoop& loop_;
  Cancellables& calls_;
  std::shared_ptr<Line> stream_;
  /// Of the endpoint that the stream is open to.
  Request::Attempt place_;
  /// Not written yet.
  Asks waiting_;
  /// Written to the stream, in order.
  Asks asked_;
  DueTimer deadline_timer_;
  std::uint64_t written_{0};
};

}  // namespace holdfast::etcd
