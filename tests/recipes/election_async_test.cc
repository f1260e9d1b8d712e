// Elections in coroutines.

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>

#include "holdfast/async_election.h"
#include "tests/recipes/election_bed.h"

namespace holdfast::recipes {
namespace {

namespace asio = boost::asio;

using ElectionCoroutineContract = ElectionTest;
HOLDFAST_RECIPE(ElectionCoroutineContract);

/// Something that one coroutine waits for and another brings about.
class Milestone {
 public:
  explicit Milestone(asio::io_context& context)
      : not_yet_{context, asio::steady_timer::time_point::max()} {}

  void reach() {
    reached_ = true;
    not_yet_.cancel();
  }

  asio::awaitable<void> reached() {
    while (!reached_) {
      boost::system::error_code cancelled;
      co_await not_yet_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
    }
  }

 private:
  asio::steady_timer not_yet_;
  bool reached_{false};
};

struct Story {
  Client here;
  Client there;
  Milestone first_seen;
  Milestone handed_over;
  std::vector<std::string> leaders{};
  std::optional<Error> failed{};
  std::optional<ReleaseOutcome> stepped_down{};
};

/// Awaits leaders until it is that one.
asio::awaitable<void> see(Story& story, LeaderWatch& watch, std::string id) {
  for (;;) {
    auto leader = co_await async_next_leader(watch);
    if (!leader) {
      story.failed = leader.error();
      co_return;
    }
    story.leaders.push_back(*leader ? (*leader)->id : "nobody");
    if (story.leaders.back() == id) co_return;
  }
}

asio::awaitable<void> lead_first(Story& story) {
  auto term = co_await async_campaign(story.here, "billing", {.id = "anna"});
  if (!term) {
    story.failed = term.error();
    co_return;
  }
  co_await story.first_seen.reached();
  // Until the other one waits.
  for (;;) {
    auto handed = co_await async_hand_over(*term, "bert", kPatience);
    if (!handed && handed.error().code == Errc::not_found) continue;
    if (!handed) story.failed = handed.error();
    story.handed_over.reach();
    co_return;
  }
}

asio::awaitable<void> lead_second(Story& story) {
  auto watch = LeaderWatch::start(story.there, "billing");
  co_await see(story, *watch, "anna");
  story.first_seen.reach();
  auto term = co_await async_campaign(story.there, "billing", {.id = "bert"});
  if (!term) {
    story.failed = term.error();
    co_return;
  }
  co_await see(story, *watch, "bert");
  // A leader of a moment may go unseen where it is looked for now and then.
  co_await story.handed_over.reached();
  story.stepped_down = co_await async_step_down(*std::move(term));
  co_await see(story, *watch, "nobody");
}

TEST_P(ElectionCoroutineContract, CampaignObserveHandOverAndStepDown) {
  asio::io_context context;
  Story story{.here = reconnect(),
              .there = reconnect(),
              .first_seen = Milestone{context},
              .handed_over = Milestone{context}};
  asio::co_spawn(context, lead_first(story), asio::detached);
  asio::co_spawn(context, lead_second(story), asio::detached);
  context.run();
  EXPECT_FALSE(story.failed) << story.failed->message;
  EXPECT_EQ(story.stepped_down, ReleaseOutcome::released);
  // Nobody may have been seen to lead in between.
  std::erase(story.leaders, "nobody");
  EXPECT_EQ(story.leaders, (std::vector<std::string>{"anna", "bert"}));
  EXPECT_FALSE(*find_leader(client(), kName));
}

}  // namespace
}  // namespace holdfast::recipes
