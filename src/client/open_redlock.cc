#include "client/open_redlock.h"

#include <algorithm>
#include <future>
#include <utility>

#include "client/redlock_nodes.h"
#include "client/redlock_url.h"
#include "core/session_backend.h"
#include "engines/redlock/founding_scripts.h"
#include "engines/redlock/member_gate.h"
#include "engines/redlock/redlock_desk.h"
#include "engines/redlock/redlock_engine.h"

namespace holdfast {
namespace {

using redlock::Answers;
using redlock::NodeView;

constexpr Millis kNodeTimeoutMax{1000};

std::vector<NodeView> views_of(const Answers& answers, const std::vector<std::string>& names) {
  std::vector<NodeView> views;
  for (std::size_t node = 0; node < answers.size(); ++node) {
    NodeView view{.name = names[node]};
    if (const auto& answer = answers[node]) {
      view.answer = *answer ? Result<redlock::Membership>{redlock::read_membership(**answer)}
                            : Result<redlock::Membership>{Unexpected{answer->error()}};
    }
    views.push_back(std::move(view));
  }
  return views;
}

using Looked = std::shared_ptr<std::promise<std::vector<NodeView>>>;

Task<void> look_at(Env& env, redlock::Nodes nodes, RedlockUrl url, Looked looked) {
  const auto names = url.names();
  redis::SharedCall call = redis::share({.script = &redlock::kLookScript,
                                         .keys = {redlock::Keys::membership(url.prefix)},
                                         .args = {}});
  redlock::Enough agreed = [&names](const Answers& answers) {
    const auto set = redlock::agreed_set(views_of(answers, names));
    return set && set->has_value();
  };
  const TimePoint by = env.now() + url.timeout;
  const Answers answers =
      co_await redlock::ask_nodes(env, std::move(nodes), std::move(call), by, std::move(agreed));
  looked->set_value(views_of(answers, names));
}

/// A common cause, such as a wrong password, is worth more than that too few answered.
Error common_cause(Error error, const std::vector<NodeView>& views) {
  if (error.code != Errc::unavailable) return error;
  const auto is_denied = [](const NodeView& view) {
    return view.answer && !*view.answer && view.answer->error().code == Errc::denied;
  };
  if (!std::ranges::all_of(views, is_denied)) return error;
  error.code = Errc::denied;
  error.message = views.front().answer->error().message;
  return error;
}

Result<redlock::NodeSet> set_of(const std::vector<NodeView>& views) {
  auto agreed = redlock::agreed_set(views);
  if (!agreed) return Unexpected{Error{Errc::unavailable, "the nodes did not answer in time"}};
  if (!*agreed) return Unexpected{common_cause(std::move(*agreed).error(), views)};
  return *std::move(*agreed);
}

/// The nodes behind their gates; those that have been asked are open.
redlock::Nodes gated(const redlock::Nodes& nodes,
                     const redlock::NodeSet& set,
                     const std::vector<NodeView>& views,
                     const std::string& prefix) {
  const auto roster = std::make_shared<redlock::Roster>(set);
  redlock::Nodes gates;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    const NodeView& view = views[node];
    const auto gate = std::make_shared<redlock::MemberGate>(nodes[node], roster, view.name, prefix);
    // One that is not of the set stays closed, and may join later.
    if (view.answer && *view.answer) static_cast<void>(gate->admit(**view.answer));
    gates.push_back(gate);
  }
  return gates;
}

core::SessionSettings session_settings(const RedlockUrl& url, const redlock::NodeSet& set) {
  return {.url = url.shown(),
          .domain = "redlock:" + set.id,
          .can = {.shared = false,
                  .permits = false,
                  .fifo = false,
                  .detached = true,
                  .lock_delay = false,
                  .watch = true,
                  .store = false},
          .why_not_more = "a majority of independent nodes can agree on one holder only",
          .timeout = url.timeout};
}

}  // namespace

Result<std::shared_ptr<Backend>> open_redlock(std::string_view url) {
  const auto parsed = parse_redlock_url(url);
  if (!parsed) return Unexpected{parsed.error()};
  auto opened = open_nodes(*parsed);
  if (!opened) return Unexpected{std::move(opened).error()};
  runtime::AsioEnv& env = *opened->env;
  const auto looked = std::make_shared<std::promise<std::vector<NodeView>>>();
  auto views_later = looked->get_future();
  env.spawn(look_at(env, opened->nodes, *parsed, looked));
  const std::vector<NodeView> views = views_later.get();
  const auto set = set_of(views);
  if (!set) return Unexpected{set.error()};
  redlock::Nodes nodes = gated(opened->nodes, *set, views, parsed->prefix);

  const redlock::Settings settings{.prefix = parsed->prefix,
                                   .set = *set,
                                   .names = parsed->names(),
                                   .timeout = std::min(parsed->timeout, kNodeTimeoutMax),
                                   .patience = parsed->timeout};
  auto engine = std::make_shared<redlock::RedlockEngine>(env, nodes, settings);
  auto desk = std::make_shared<redlock::RedlockDesk>(env, std::move(nodes), engine, settings);
  opened->nodes.clear();
  core::SessionParts parts{
      .env = std::move(opened->env), .engine = std::move(engine), .desk = std::move(desk)};
  return std::shared_ptr<Backend>{
      core::SessionBackend::start(std::move(parts), session_settings(*parsed, *set))};
}

}  // namespace holdfast
