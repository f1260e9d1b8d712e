#include "client/redlock_admin.h"

#include <algorithm>
#include <future>
#include <optional>
#include <utility>

#include "base/invalid.h"
#include "client/redlock_nodes.h"
#include "client/redlock_url.h"

namespace holdfast {
namespace {

using Answer = std::shared_ptr<std::promise<Result<redlock::NodeSet>>>;

Task<void> answer_with(Task<Result<redlock::NodeSet>> task, Answer answer) {
  std::optional<Result<redlock::NodeSet>> result;
  {
    // With it go its nodes, before the Env may.
    Task<Result<redlock::NodeSet>> done = std::move(task);
    auto value = co_await std::move(done);
    result.emplace(std::move(value));
  }
  answer->set_value(*std::move(result));
}

/// Does on the Env's thread what `begin` makes a task of, and waits.
template <class Begin>
Result<redlock::NodeSet> on_the_nodes(const RedlockUrl& url, Begin begin) {
  auto opened = open_nodes(url);
  if (!opened) return Unexpected{std::move(opened).error()};
  redlock::Ground ground{.env = *opened->env,
                         .nodes = std::move(opened->nodes),
                         .names = url.names(),
                         .prefix = url.prefix,
                         .timeout = url.timeout};
  const auto answer = std::make_shared<std::promise<Result<redlock::NodeSet>>>();
  auto later = answer->get_future();
  opened->env->spawn(answer_with(begin(std::move(ground)), answer));
  return later.get();
}

}  // namespace

Result<redlock::NodeSet> found_redlock(std::string_view url,
                                       redlock::Founding founding,
                                       redlock::OnWait on_wait,
                                       std::stop_token stop) {
  const auto parsed = parse_redlock_url(url);
  if (!parsed) return Unexpected{parsed.error()};
  return on_the_nodes(*parsed, [&](redlock::Ground ground) {
    return redlock::found_set(std::move(ground), founding, on_wait, stop);
  });
}

Result<redlock::NodeSet> rejoin_redlock(std::string_view url,
                                        std::string_view node,
                                        redlock::OnWait on_wait,
                                        std::stop_token stop) {
  const auto parsed = parse_redlock_url(url);
  if (!parsed) return Unexpected{parsed.error()};
  const std::vector<std::string> names = parsed->names();
  const auto found = std::ranges::find(names, node);
  if (found == names.end()) {
    std::string known;
    for (const std::string& name : names) known += (known.empty() ? "" : ", ") + name;
    return invalid("the engine URL names no node " + std::string{node}, "its nodes are " + known);
  }
  const auto index = static_cast<std::size_t>(found - names.begin());
  return on_the_nodes(*parsed, [&](redlock::Ground ground) {
    return redlock::rejoin_set(std::move(ground), index, on_wait, stop);
  });
}

}  // namespace holdfast
