#include "bench/etcd/callers.h"

#include <vector>

#include "base/assert.h"
#include "bench/crowd.h"
#include "bench/etcd/bare_client.h"
#include "bench/peers.h"
#include "bench/sampling.h"

namespace holdfast::bench {
namespace {

constexpr Turns kTurns{.rounds = 100, .batch = 20};

void add_one(Report& report, Client& client, BareEtcd& bare) {
  const BarePair txns = bare.pair_for("bare");
  const auto two_transactions = [&] {
    bare.round_trip(txns.take);
    bare.round_trip(txns.give_up);
  };
  const std::vector<Subject> subjects{{.name = "bare", .body = two_transactions},
                                      {.name = "holdfast", .body = [&] { pair(client, "one"); }}};
  // Connections, the lease and caches first.
  time_each_in_turns(subjects, {.rounds = 4, .batch = kTurns.batch});
  const auto timings = time_each_in_turns(subjects, kTurns);
  report.cases.push_back({.name = std::string{kOneCaller},
                          .ops_s = 1e9 / timings[1].p50_ns,
                          .p50_ns = timings[1].p50_ns,
                          .p99_ns = timings[1].p99_ns,
                          .limit_name = "two bare transactions",
                          .limit = timings[0].p50_ns,
                          .ratio = timings[0].p50_ns / timings[1].p50_ns,
                          .target = 1 / 1.15});
}

/// One thread and one channel with always as many transactions under way as there are callers.
class BareCrowd {
 public:
  explicit BareCrowd(BareEtcd& bare) : stub_{bare.channel()} {
    for (std::size_t i = 0; i < kCallers; ++i) {
      callers_.push_back({.txns = bare.pair_for("bare/" + std::to_string(i))});
    }
  }

  /// Pairs per second.
  double rate() {
    const TimePoint begun = BootClock::now();
    std::size_t under_way = callers_.size();
    std::uint64_t pairs = 0;
    for (Caller& caller : callers_) send(caller, caller.txns.take);
    while (under_way > 0) {
      Caller& caller = next();
      caller.holds = !caller.holds;
      if (!caller.holds) ++pairs;
      const bool goes_on = caller.holds || BootClock::now() < begun + kWindow;
      if (goes_on) send(caller, caller.holds ? caller.txns.give_up : caller.txns.take);
      if (!goes_on) --under_way;
    }
    const std::chrono::duration<double> spent = BootClock::now() - begun;
    return static_cast<double>(pairs) / spent.count();
  }

 private:
  using Answer = etcd::wire::TxnResponse;
  struct Call {
    grpc::ClientContext context;
    Answer answer;
    grpc::Status status;
    std::unique_ptr<grpc::ClientAsyncResponseReader<Answer>> reader;
  };
  struct Caller {
    BarePair txns;
    std::unique_ptr<Call> call{};
    bool holds{false};
  };

  void send(Caller& caller, const BareTxn& txn) {
    caller.call = std::make_unique<Call>();
    Call& call = *caller.call;
    call.reader = stub_.PrepareUnaryCall(&call.context, etcd::kTxnMethod, txn, &queue_);
    call.reader->StartCall();
    call.reader->Finish(&call.answer, &call.status, &caller);
  }

  Caller& next() {
    void* tag = nullptr;
    bool ok = false;
    HOLDFAST_ASSERT(queue_.Next(&tag, &ok) && ok);
    Caller& caller = *static_cast<Caller*>(tag);
    HOLDFAST_ASSERT(caller.call->status.ok() && caller.call->answer.succeeded());
    return caller;
  }

  grpc::TemplatedGenericStub<BareTxn, Answer> stub_;
  grpc::CompletionQueue queue_;
  std::vector<Caller> callers_;
};

struct Crowd {
  std::string name;
  double (*rate)(Client& client);
  /// Zero: for comparison alone.
  double target;
};

void add_many(Report& report, Client& client, BareEtcd& bare, const Crowd& crowd) {
  BareCrowd bare_crowd{bare};
  std::vector<double> ours;
  std::vector<double> limits;
  for (int i = 0; i < kWindows; ++i) {
    limits.push_back(1e9 / bare_crowd.rate());
    ours.push_back(1e9 / crowd.rate(client));
  }
  const Timing limit = summarise(limits);
  const Timing holdfast = summarise(ours);
  report.cases.push_back({.name = crowd.name + ", time per acquire+release",
                          .ops_s = 1e9 / holdfast.p50_ns,
                          .p50_ns = holdfast.p50_ns,
                          .p99_ns = holdfast.p99_ns,
                          .limit_name = "bare transactions, 64 at once",
                          .limit = limit.p50_ns,
                          .ratio = limit.p50_ns / holdfast.p50_ns,
                          .target = crowd.target});
}

}  // namespace

Result<void> add_callers(Report& report, const EtcdServer& server, const Progress& progress) {
  auto client = Client::connect(server.url());
  if (!client) return Unexpected{client.error()};
  auto bare = BareEtcd::connect(server.port());
  if (!bare) return Unexpected{bare.error()};
  progress("one caller");
  add_one(report, *client, *bare);
  progress("64 callers");
  add_many(report, *client, *bare, {"64 callers", &coroutines_rate, 0.85});
  progress("64 threads");
  add_many(report, *client, *bare, {"64 threads", &threads_rate, 0});
  return {};
}

}  // namespace holdfast::bench
