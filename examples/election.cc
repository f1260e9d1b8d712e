// Two candidates for one job. The first leads, hands over to the second, and retires.

#include <holdfast/election.h>

#include <condition_variable>
#include <iostream>
#include <mutex>

namespace {

/// The leader's work: it goes on until it is told to stop.
void lead(const holdfast::Leadership& term, const std::stop_token& stop) {
  std::cout << term.id() << " leads in epoch " << term.epoch().value() << std::endl;
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock{mutex};
  stopped.wait(lock, stop, [] { return false; });
}

int fail(const holdfast::Error& error) {
  std::cerr << error.message << ": " << error.remedy() << '\n';
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const char* url = argc > 1 ? argv[1] : "local:";
  // In real life each of them is in a process of its own.
  auto here = holdfast::Client::connect(url);
  auto there = holdfast::Client::connect(url);
  if (!here) return fail(here.error());
  if (!there) return fail(there.error());
  auto watch = holdfast::LeaderWatch::start(*here, "billing");
  if (!watch) return fail(watch.error());

  auto anna = holdfast::Candidate::start(
      *here,
      "billing",
      {.value = "10.0.0.1:80", .id = "anna", .after_term = holdfast::AfterTerm::retire},
      {.on_elected = lead});
  if (!anna) return fail(anna.error());
  for (;;) {
    const auto leader = watch->next();
    if (!leader) return fail(leader.error());
    if (*leader && (*leader)->id == "anna") break;
  }
  auto bert = holdfast::Candidate::start(
      *there, "billing", {.value = "10.0.0.2:80", .id = "bert"}, {.on_elected = lead});
  if (!bert) return fail(bert.error());

  holdfast::Result<void> handed{};
  do {
    handed = anna->hand_over("bert");
  } while (!handed && handed.error().code == holdfast::Errc::not_found);  // not in the queue yet
  if (!handed) return fail(handed.error());
  const auto leader = holdfast::find_leader(*here, "billing");
  if (!leader) return fail(leader.error());
  std::cout << "clients talk to " << (*leader ? (*leader)->value : "nobody") << '\n';
  return 0;
}
