// WatchLine: all watches, over one stream.
//
// When the stream breaks, it is opened again at the endpoint of then, and every watch goes on with
// the change after the last it was told of.
//
// Thread safety: as Env.

#pragma once

#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/due_timer.h"
#include "engines/etcd/driver/route.h"
#include "engines/etcd/driver/stream.h"
#include "engines/etcd/driver/wire.h"
#include "engines/etcd/etcd_port.h"

namespace holdfast::etcd {

class WatchLine final : public RouteUser,
                        public Stream<wire::WatchRequest, wire::WatchResponse>::Owner {
 public:
  /// A server that has not confirmed a watch within `patience` is left for another.
  WatchLine(Env& env, Route& route, CompletionLoop& loop, Cancellables& calls, Duration patience);

  WatchId watch(Watch watch, OnWatch on_watch);
  void unwatch(WatchId id);

  /// Watches asked for, repetitions included.
  std::uint64_t created() const { return created_; }

  bool wants() const override { return !entries_.empty() && !stream_; }
  void on_ready() override;
  void on_moved(const Error& why) override;
  void on_refused(const Error&) override {}

 private:
  using Line = Stream<wire::WatchRequest, wire::WatchResponse>;
  using Number = std::uint64_t;
  struct Entry {
    Watch watch;
    std::shared_ptr<OnWatch> on_watch;
    /// What the server calls it on this stream. Zero: it does not know of it.
    std::int64_t wire_id{0};
    /// Of a change that comes in several messages, what has come.
    std::vector<Change> parts{};
    bool was_denied{false};
  };
  using Entries = std::map<Number, Entry>;
  struct Unconfirmed {
    std::int64_t wire_id;
    TimePoint due;
  };

  void on_message(wire::WatchResponse& message) override;
  void on_end(const grpc::Status& status) override;

  void open();
  void create(Number number, Entry& entry);
  void drop_stream();
  Entries::iterator find(const wire::WatchResponse& message);
  void confirm(wire::WatchResponse& message);
  void on_created(Entries::iterator at, const Header& header);
  void on_cancelled(Entries::iterator at, const wire::WatchResponse& message);
  void on_compacted(Entries::iterator at, const wire::WatchResponse& message);
  void on_events(Entries::iterator at, wire::WatchResponse& message);
  void refuse(Entries::iterator at, const std::string& why);
  void refuse_all(const std::string& why);
  void leave_a_silent_server();

  Env& env_;
  Route& route_;
  CompletionLoop& loop_;
  Cancellables& calls_;
  Duration patience_;
  std::shared_ptr<Line> stream_;
  /// Of the endpoint that the stream is open to.
  Request::Attempt place_;
  Entries entries_;
  std::unordered_map<std::int64_t, Number> by_wire_id_;
  /// The server confirms in the order it was asked in.
  std::deque<Unconfirmed> unconfirmed_;
  Number last_number_{0};
  std::int64_t last_wire_id_{0};
  std::uint64_t created_{0};
  DueTimer confirm_timer_;
};

}  // namespace holdfast::etcd
