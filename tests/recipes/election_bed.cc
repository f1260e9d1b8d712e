#include "tests/recipes/election_bed.h"

#include "core/election.h"

namespace holdfast::recipes {

Worker::Worker(Client client, std::string id, Millis ttl, AfterTerm after) : id_{std::move(id)} {
  const std::string value = "address of " + id_;
  auto started =
      Candidate::start(client,
                       "billing",
                       {.value = value, .id = id_, .ttl = ttl, .after_term = after},
                       {.on_elected = [this](const Leadership& term,
                                             const std::stop_token& stop) { work(term, stop); },
                        .on_lost =
                            [this](LossReason reason) {
                              loss_ = reason;
                              ++losses_;
                            }});
  if (!started) throw std::runtime_error{started.error().message};
  candidate_.emplace(*std::move(started));
}

void Worker::work(const Leadership& term, const std::stop_token& stop) {
  elected_at_ = BootClock::now();
  epoch_ = term.epoch();
  ++terms_;
  working_ = true;
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock{mutex};
  stopped.wait(lock, stop, [] { return false; });
  working_ = false;
}

Millis ElectionTest::ttl() const { return std::max<Millis>(2s, GetParam().ttl_min); }

std::unique_ptr<Worker> ElectionTest::leader(const std::string& id) {
  auto worker = std::make_unique<Worker>(reconnect(), id, ttl());
  EXPECT_TRUE(eventually([&] { return worker->leads(); })) << id;
  return worker;
}

std::unique_ptr<Worker> ElectionTest::stand_in(const std::string& id) {
  auto worker = std::make_unique<Worker>(reconnect(), id, ttl());
  if (shows_waiters()) {
    EXPECT_TRUE(eventually([&] { return core::is_waiting(*client().inspect(kName), id); })) << id;
  }
  return worker;
}

std::unique_ptr<contract::Actor> ElectionTest::foreign_leader(const std::string& id) {
  auto process = actor();
  const std::string label = core::to_label({.id = id, .value = "elsewhere"});
  const auto granted = process->acquire("lease", kName, {.ttl = ttl(), .label = label});
  EXPECT_TRUE(granted.granted()) << granted.message;
  return process;
}

bool ElectionTest::is_led_by(const std::string& id) {
  const auto leader = find_leader(client(), kName);
  return leader && *leader && (*leader)->id == id;
}

}  // namespace holdfast::recipes
