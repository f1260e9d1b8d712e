#include "bench/postgres/hand_over.h"

#include "bench/postgres/bare_client.h"
#include "bench/queue_hand_over.h"
#include "bench/sampling.h"

namespace holdfast::bench {
namespace {

class PostgresGiver final : public BareGiver {
 public:
  explicit PostgresGiver(std::unique_ptr<BarePostgres> bare) : bare_{std::move(bare)} {}

  void put() override {}
  void erase() override { bare_->notify(); }
  std::size_t contenders(const std::string& name) override { return bare_->contenders(name); }

 private:
  std::unique_ptr<BarePostgres> bare_;
};

class PostgresReceiver final : public BareReceiver {
 public:
  explicit PostgresReceiver(std::unique_ptr<BarePostgres> bare) : bare_{std::move(bare)} {}

  void watch() override {}
  void wait() override { bare_->wait(); }
  void ask() override { bare_->ask(); }

 private:
  std::unique_ptr<BarePostgres> bare_;
};

template <class End, class Base>
Result<std::unique_ptr<Base>> connect(std::uint16_t port) {
  auto bare = BarePostgres::connect(port);
  if (!bare) return Unexpected{bare.error()};
  return std::unique_ptr<Base>{std::make_unique<End>(*std::move(bare))};
}

}  // namespace

Result<void> add_hand_over(Report& report, const PostgresServer& server, const Progress& progress) {
  progress("hand-over between two processes");
  const std::uint16_t port = server.port();
  const auto added = add_queue_hand_over(
      report,
      {.url = server.url("lease"),
       .giver = [port] { return connect<PostgresGiver, BareGiver>(port); },
       .receiver = [port] { return connect<PostgresReceiver, BareReceiver>(port); },
       .limit_name = {}});
  if (!added) return added;
  const auto bare = BarePostgres::connect(port);
  if (!bare) return Unexpected{bare.error()};
  const std::string value(100, 'v');
  const std::vector<Subject> write{{.name = "bare", .body = [&] { (*bare)->put(value); }}};
  Case& handed_over = report.cases.back();
  handed_over.limit_name = "bare write of a row";
  handed_over.limit = time_each_in_turns(write, {.rounds = 50, .batch = 20})[0].p50_ns;
  handed_over.ratio = handed_over.limit / handed_over.p50_ns;
  handed_over.target = 1 / 2.5;
  return {};
}

}  // namespace holdfast::bench
