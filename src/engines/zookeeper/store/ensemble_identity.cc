#include "engines/zookeeper/store/ensemble_identity.h"

#include <utility>
#include <vector>

namespace holdfast::zookeeper {
namespace {

constexpr Millis kPause{50};

/// Nodes above it, the identity itself, and what it is then.
std::vector<SharedRequest> making(const std::string& path, const std::string& fresh) {
  std::vector<SharedRequest> requests;
  for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    requests.push_back(share(Create{.path = path.substr(0, at)}));
  }
  requests.push_back(share(Create{.path = path, .data = fresh}));
  requests.push_back(share(Read{.path = path}));
  return requests;
}

bool may_pass(Errc code) {
  return code == Errc::unknown_outcome || code == Errc::lost || code == Errc::unavailable;
}

Task<Result<std::string>> ask_once(StoreLine& line,
                                   const std::string& path,
                                   const std::string& fresh,
                                   TimePoint answer_by) {
  const std::vector<SharedRequest> looking{share(Sync{}), share(Read{.path = path})};
  auto answers = co_await line.ask_all(looking, answer_by);
  if (!answers) co_return Unexpected{std::move(answers).error()};
  if (answers->back().verdict == Verdict::done) co_return answers->back().data;
  const std::vector<SharedRequest> requests = making(path, fresh);
  answers = co_await line.ask_all(requests, answer_by);
  if (!answers) co_return Unexpected{std::move(answers).error()};
  if (answers->back().verdict == Verdict::done) co_return answers->back().data;
  co_return Unexpected{Error{Errc::not_found,
                             "the chroot of the URL is not there",
                             "create that node, or leave it out of the URL"}};
}

}  // namespace

Task<Result<std::string>> identity_of(
    Env& env, StoreLine& line, Nodes nodes, std::string fresh, TimePoint answer_by) {
  const std::string path = nodes.beside("identity");
  while (true) {
    auto name = co_await ask_once(line, path, fresh, answer_by);
    const bool again = !name && may_pass(name.error().code) && env.now() + kPause < answer_by;
    if (!again) co_return name;
    co_await env.sleep_for(kPause);
  }
}

}  // namespace holdfast::zookeeper
