#include "tests/contract/store_labour.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "core/store_backend.h"

namespace holdfast::contract {
namespace {

std::string increment(const Entry* old) {
  return std::to_string((old == nullptr ? 0 : std::stoull(old->value)) + 1);
}

Fields done(std::int64_t rounds, std::int64_t refused) {
  return {"done", std::to_string(rounds), std::to_string(refused)};
}

Fields wrong(const Error& error) { return {std::string{to_string(error.code)}, error.message}; }

Fields count_by_update(Store& store, const std::string& key, std::int64_t rounds) {
  std::int64_t conflicts = 0;
  for (std::int64_t round = 0; round < rounds; ++round) {
    const auto report =
        store.update(key, [](const Entry* old) { return increment(old); }, {.attempts = 100'000});
    if (!report) return wrong(report.error());
    conflicts += report->conflicts;
  }
  return done(rounds, conflicts);
}

/// One increment under the lease. stale_token: somebody took over, and nothing was counted.
Result<WriteReceipt, StoreError> count_fenced(Store& store,
                                              const std::string& resource,
                                              const Lease& lease) {
  auto opened = store.open(resource, lease);
  if (!opened) return Unexpected{opened.error()};
  const auto entry = opened->read();
  if (!entry) return Unexpected{entry.error()};
  std::this_thread::yield();
  return opened->write(increment(*entry ? &**entry : nullptr));
}

Result<Version, StoreError> count_unfenced(Store& store, const std::string& key) {
  const auto entry = store.get(key);
  if (!entry) return Unexpected{entry.error()};
  std::this_thread::yield();
  return store.put(key, increment(*entry ? &**entry : nullptr));
}

template <class Count>
Fields count_under_lock(Client& client, const Fields& command, const Count& count) {
  const std::int64_t rounds = to_number(command.at(4));
  const Millis ttl{to_number(command.at(5))};
  std::int64_t counted = 0;
  std::int64_t refused = 0;
  while (counted < rounds) {
    auto lease = client.acquire(command.at(2), {.ttl = ttl});
    if (!lease) return wrong(lease.error());
    const auto outcome = count(*lease);
    if (!outcome && outcome.error().code != Errc::stale_token) return wrong(outcome.error());
    outcome ? ++counted : ++refused;
  }
  return done(counted, refused);
}

/// Ends the process at one step of its way.
class Fate {
 public:
  explicit Fate(std::int64_t step) : step_{step} {}
  void pass() {
    if (step_-- == 0) kill(getpid(), SIGKILL);
  }

 private:
  std::int64_t step_;
};

class MortalStore final : public StoreBackend {
 public:
  MortalStore(std::shared_ptr<StoreBackend> inner, Fate& fate)
      : inner_{std::move(inner)}, fate_{fate} {}

  StoreResult perform(const StoreRequest& request) override {
    fate_.pass();
    auto reply = inner_->perform(request);
    fate_.pass();
    return reply;
  }
  void async_perform(StoreRequest request, StoreCallback callback) override {
    inner_->async_perform(std::move(request), std::move(callback));
  }

 private:
  std::shared_ptr<StoreBackend> inner_;
  Fate& fate_;
};

Fields run_once(Store& store, const Fields& command) {
  Fate fate{to_number(command.at(5))};
  Store mortal{std::make_shared<MortalStore>(store.backend(), fate), store.locks()};
  const auto runner = [&](const Lease& lease) {
    fate.pass();
    const std::string token = std::to_string(lease.token().value());
    const std::string effect = join(
        {command.at(2), token, std::to_string(getpid()), from_time(BootClock::now()), "whole"});
    // Who is killed at it may leave half a line, where the file's next page begins: a line of its
    // own for everybody.
    std::ofstream{command.at(4), std::ios::app} << '\n' + effect << std::flush;
    // Long enough to be killed at it.
    poll(nullptr, 0, static_cast<int>(lease.token().value() % 4));
    fate.pass();
    return OnceResult{.status = 0, .bytes = token};
  };
  const auto report = mortal.once(command.at(2), runner, {.ttl = Millis{to_number(command.at(3))}});
  if (!report) return wrong(report.error());
  return {report->ran == Ran::here ? "here" : "before", report->result.bytes};
}

}  // namespace

Fields store_labour(Client& client, const Fields& command) {
  auto store = client.store();
  if (!store) return wrong(store.error());
  const std::string& verb = command.at(1);
  if (verb == "update") {
    return count_by_update(*store, command.at(2), to_number(command.at(3)));
  }
  if (verb == "fenced") {
    return count_under_lock(client, command, [&](const Lease& lease) {
      return count_fenced(*store, command.at(3), lease);
    });
  }
  if (verb == "unfenced") {
    return count_under_lock(
        client, command, [&](const Lease&) { return count_unfenced(*store, command.at(3)); });
  }
  return run_once(*store, command);
}

std::uint64_t read_counter(Store& store, const std::string& key) {
  const auto entry = store.get(key);
  return entry && *entry ? std::stoull((*entry)->value) : 0;
}

}  // namespace holdfast::contract
