// What clients do at the resource that the locks guard. A client sends the token of the last lease
// it was granted, whatever has become of the lease: a program that does not look is the one to
// learn from.

#include <algorithm>
#include <array>

#include "base/decimal.h"
#include "tests/transcripts/verbs.h"
#include "tests/transcripts/words.h"

namespace holdfast::transcripts {
namespace {

constexpr Duration kPatience = std::chrono::seconds{1};

struct Work {
  sim::ClientId client;
  std::string lock;
  sim::RegisterRequest request;
};

Token highest_token(const sim::FencedRegister& resource, std::size_t lock) {
  Token highest{0};
  for (const sim::Served& served : resource.log()) {
    const bool counts = served.lock == lock && served.verdict == sim::Verdict::accepted;
    if (counts) highest = std::max(highest, served.token);
  }
  return highest;
}

std::string deed(const Work& work) {
  switch (work.request.verb) {
    case sim::Verb::open:
      return " opens " + work.lock;
    case sim::Verb::read:
      return " reads " + work.lock;
    case sim::Verb::write:
      break;
  }
  return " writes " + std::to_string(work.request.value) + " to " + work.lock;
}

std::string verdict_text(Stage& stage,
                         const Work& work,
                         const Result<sim::RegisterAnswer>& answer) {
  if (!answer) return "no answer";
  if (answer->verdict == sim::Verdict::refused) {
    const Token seen = highest_token(stage.world().servers().resource, work.request.lock);
    return "refused, token " + std::to_string(work.request.token.value()) +
           ", the resource has seen " + std::to_string(seen.value());
  }
  if (work.request.verb == sim::Verb::read) return std::to_string(answer->value);
  return "accepted";
}

Task<void> operate(Stage& stage, Work work) {
  sim::SimClient& client = stage.world().client(work.client);
  const auto answer = co_await client.operate(work.request, kPatience);
  stage.say(stage.name(work.client) + deed(work) + ": " + verdict_text(stage, work, answer));
}

Result<Work> work_of(Stage& stage, const Command& command, sim::Verb verb) {
  const auto client = stage.client(command.words[0]);
  if (!client) return Unexpected{client.error()};
  const std::string& lock = command.words[1];
  const auto holding = stage.holding(*client, lock);
  if (!holding) return Unexpected{holding.error()};
  const auto value = stage.value_of(lock);
  if (!value) return Unexpected{value.error()};
  return Work{.client = *client,
              .lock = lock,
              .request = {.lock = *value,
                          .verb = verb,
                          .token = (*holding)->lease.token(),
                          .holder = (*holding)->holder}};
}

template <sim::Verb verb>
Result<void> look_at(Stage& stage, const Command& command) {
  auto work = work_of(stage, command, verb);
  if (!work) return Unexpected{work.error()};
  const sim::ClientId client = work->client;
  return stage.begin(client, operate(stage, *std::move(work)));
}

Result<void> write(Stage& stage, const Command& command) {
  auto work = work_of(stage, command, sim::Verb::write);
  if (!work) return Unexpected{work.error()};
  const auto value = number_option(command, "value");
  if (!value) return Unexpected{value.error()};
  const auto holding = stage.holding(work->client, work->lock);
  work->request.value = *value;
  work->request.sequence = ++(*holding)->sequence;
  const sim::ClientId client = work->client;
  return stage.begin(client, operate(stage, *std::move(work)));
}

}  // namespace

std::span<const Verb> resource_verbs() {
  static const std::array kVerbs{
      Verb{"open", "open CLIENT LOCK", 2, 2, {}, &look_at<sim::Verb::open>},
      Verb{"read", "read CLIENT LOCK", 2, 2, {}, &look_at<sim::Verb::read>},
      Verb{"write", "write CLIENT LOCK value=N", 2, 2, {"value"}, &write},
  };
  return kVerbs;
}

}  // namespace holdfast::transcripts
