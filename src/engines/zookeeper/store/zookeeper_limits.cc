#include "engines/zookeeper/store/zookeeper_limits.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace holdfast::zookeeper {
namespace {

using core::LimitPage;

constexpr Duration kSweepEvery = std::chrono::minutes{1};
constexpr Duration kSweepTime = std::chrono::seconds{30};
constexpr std::size_t kSweptMax = 64;

Error not_a_page(const std::string& path) {
  return {Errc::corrupt,
          "the node " + path + " is not the page of a rate limit",
          "another program has written there: use another prefix"};
}

/// Of what was asked without changing anything.
Unexpected<Error> only_looked(Error error) {
  if (error.code == Errc::unknown_outcome) error.code = Errc::unavailable;
  return Unexpected{std::move(error)};
}

}  // namespace

ZookeeperLimits::ZookeeperLimits(Env& env,
                                 std::shared_ptr<StoreLine> line,
                                 const std::string& prefix)
    : env_{env},
      line_{std::move(line)},
      root_{Nodes{prefix}.beside("limits")},
      clock_{env, root_} {}

std::string ZookeeperLimits::page(const std::string& key) const {
  return root_ + '/' + encoded_component(key);
}

Task<Result<void>> ZookeeperLimits::lay_ground(TimePoint answer_by) {
  std::vector<SharedRequest> requests;
  for (std::size_t at = root_.find('/', 1); at != std::string::npos; at = root_.find('/', at + 1)) {
    requests.push_back(share(Create{.path = root_.substr(0, at)}));
  }
  requests.push_back(share(Create{.path = root_}));
  const auto answers = co_await line_->ask_all(requests, answer_by);
  if (!answers) co_return only_looked(answers.error());
  if (answers->front().verdict != Verdict::no_node) co_return Result<void>{};
  co_return Unexpected{Error{Errc::not_found,
                             "the chroot of the URL is not there",
                             "create that node, or leave it out of the URL"}};
}

Task<Result<Duration>> ZookeeperLimits::time(TimePoint answer_by) {
  auto now = co_await clock_.now(*line_, answer_by);
  if (!now && now.error().code == Errc::not_found) {
    const auto ground = co_await lay_ground(answer_by);
    if (!ground) co_return Unexpected{ground.error()};
    now = co_await clock_.now(*line_, answer_by);
  }
  if (!now) co_return only_looked(std::move(now).error());
  co_return Duration{now->earliest};
}

Task<Result<LimitPage>> ZookeeperLimits::look(const std::string& path, TimePoint answer_by) {
  std::vector<SharedRequest> requests;
  requests.push_back(share(Sync{}));
  requests.push_back(share(Read{.path = path}));
  const auto answers = co_await line_->ask_all(requests, answer_by);
  if (!answers) co_return only_looked(answers.error());
  const Answer& there = answers->back();
  if (there.verdict != Verdict::done) co_return LimitPage{.known = LimitPage::Known::absent};
  const auto mark = core::read_ahead_mark(there.data);
  if (!mark) co_return Unexpected{not_a_page(path)};
  co_return LimitPage{
      .known = LimitPage::Known::present, .mark = *mark, .version = there.stat.version};
}

Task<Result<core::LimitBook::Swapped>> ZookeeperLimits::swap(const std::string& key,
                                                             const LimitPage& seen,
                                                             core::AheadMark mark,
                                                             Duration /*keep*/,
                                                             TimePoint answer_by) {
  const std::string path = page(key);
  const std::string data = core::to_text(mark);
  const bool is_there = seen.known == LimitPage::Known::present;
  Request change = Create{.path = path, .data = data};
  if (is_there) {
    change = Write{.path = path, .data = data, .version = static_cast<Version>(seen.version)};
  }
  const SharedRequest request = share(std::move(change));
  const auto answer = co_await line_->ask(request, answer_by);
  if (!answer) co_return Unexpected{answer.error()};
  if (answer->verdict == Verdict::done) {
    sweep();
    const LimitPage made{.known = LimitPage::Known::present,
                         .mark = mark,
                         .version = is_there ? seen.version + 1 : 0};
    co_return Swapped{.made = true, .page = made};
  }
  if (!is_there && answer->verdict == Verdict::no_node) {
    const auto ground = co_await lay_ground(answer_by);
    if (!ground) co_return Unexpected{ground.error()};
  }
  auto page = co_await look(path, answer_by);
  if (!page) co_return Unexpected{std::move(page).error()};
  co_return Swapped{.page = *page};
}

void ZookeeperLimits::sweep() {
  const auto now = clock_.known();
  if (!now || env_.now() < swept_at_ + kSweepEvery) return;
  swept_at_ = env_.now();
  env_.spawn(sweep_limits(
      line_, root_, now->earliest - core::kPageMemory, env_.draw(), env_.now() + kSweepTime));
}

Task<void> sweep_limits(std::shared_ptr<StoreLine> line,
                        std::string root,
                        Duration before,
                        std::uint64_t draw,
                        TimePoint answer_by) {
  const SharedRequest list = share(List{.path = root});
  const auto listed = co_await line->ask(list, answer_by);
  if (!listed || listed->children.empty()) co_return;
  const std::vector<std::string> names = listed->children;
  for (std::size_t i = 0; i < std::min(names.size(), kSweptMax); ++i) {
    const std::string path = root + '/' + names[(draw + i) % names.size()];
    const SharedRequest read = share(Read{.path = path});
    const auto there = co_await line->ask(read, answer_by);
    if (!there) co_return;
    const auto mark = core::read_ahead_mark(there->data);
    const bool is_unused =
        there->verdict == Verdict::done && mark && mark->at + mark->ahead < before;
    if (!is_unused) continue;
    const SharedRequest erase = share(Erase{.path = path, .version = there->stat.version});
    const auto erased = co_await line->ask(erase, answer_by);
    if (!erased) co_return;
  }
}

}  // namespace holdfast::zookeeper
