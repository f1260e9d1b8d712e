#include "engines/zookeeper/store/zookeeper_store.h"

#include <algorithm>
#include <utility>

#include "engines/zookeeper/store/store_sweep.h"

namespace holdfast::zookeeper {
namespace {

using core::StoreChange;
using core::StoreSight;

constexpr std::size_t kRememberedMax = 4096;
/// A node that was erased comes back under the same versions. What is left of one stays for longer
/// than this and a request together.
constexpr Duration kGoodFor = std::chrono::minutes{4};
constexpr Duration kSweepEvery = std::chrono::minutes{1};
constexpr Duration kSweepTime = std::chrono::seconds{30};

const std::string* value_in(const StoreRequest& request) {
  if (const auto* put = std::get_if<PutKey>(&request.operation)) return &put->value;
  const auto* write = std::get_if<WriteResource>(&request.operation);
  return write != nullptr && write->value ? &*write->value : nullptr;
}

Error too_large(std::size_t size) {
  return {Errc::invalid_argument,
          "a value of " + std::to_string(size) + " bytes is too large for ZooKeeper, which takes " +
              std::to_string(kStoredBytesMax),
          "keep it elsewhere, and store where it is"};
}

/// After it, a read of the same session is not behind anything that was done before.
SharedRequest barrier(const StoreRequest& request, const std::string& path) {
  if (!std::holds_alternative<ReadResource>(request.operation)) return share(Sync{});
  Multi agreed;
  agreed.steps.emplace_back(Check{.path = path});
  return share(std::move(agreed));
}

/// The step of a transaction that changes the node from what is known of it.
Multi::Step change_of(const std::string& path, const StoreSight& sight, std::string data) {
  if (sight.text.empty()) return Create{.path = path, .data = std::move(data)};
  return Write{.path = path, .data = std::move(data), .version = static_cast<Version>(sight.aside)};
}

/// Of what was asked without changing anything.
Unexpected<Error> only_looked(Error error) {
  if (error.code == Errc::unknown_outcome) error.code = Errc::unavailable;
  return Unexpected{std::move(error)};
}

}  // namespace

ZookeeperStore::ZookeeperStore(Env& env,
                               const std::shared_ptr<StoreLine>& line,
                               StoreSettings settings)
    : MarkedStore{env,
                  line,
                  {.timeout = settings.timeout, .retry = settings.retry, .who = settings.who}},
      line_{line.get()},
      shared_line_{line},
      settings_{std::move(settings)},
      nodes_{settings_.prefix},
      places_{nodes_},
      clock_{env, places_.clock()} {}

std::string ZookeeperStore::path_of(const StoreRequest& request) const {
  return places_.key(request.space, request.key);
}

StoreSight ZookeeperStore::recall(const StoreRequest& request) {
  StoreSight sight;
  const auto known = remembered_.find(path_of(request));
  if (known == remembered_.end()) return sight;
  const Remembered& seen = known->second;
  const bool stands =
      seen.generation == line_->generation() && env().now() - seen.seen_at < kGoodFor;
  const auto node = stands ? read_node(to_data(seen.head, "")) : std::nullopt;
  if (!node) return sight;
  sight.depth = StoreSight::Depth::mark;
  sight.text = seen.head;
  sight.mark = node->mark;
  sight.aside = seen.version;
  if (node->passing.node != Millis{0}) sight.fate = StoreSight::Fate::passes;
  return sight;
}

void ZookeeperStore::forget(const StoreRequest& request) { remembered_.erase(path_of(request)); }

void ZookeeperStore::remember(const StoreRequest& request, Remembered seen) {
  if (remembered_.size() >= kRememberedMax) remembered_.clear();
  remembered_.insert_or_assign(path_of(request), std::move(seen));
}

Task<Result<void>> ZookeeperStore::lay_ground(TimePoint answer_by) {
  std::vector<SharedRequest> requests;
  for (const std::string& path : places_.ground()) requests.push_back(share(Create{.path = path}));
  const auto answers = co_await line_->ask_all(requests, answer_by);
  if (!answers) co_return Unexpected{answers.error()};
  if (answers->front().verdict != Verdict::no_node) co_return Result<void>{};
  co_return Unexpected{Error{Errc::not_found,
                             "the chroot of the URL is not there",
                             "create that node, or leave it out of the URL"}};
}

Task<Result<bool>> ZookeeperStore::has_passed(Millis at, TimePoint answer_by) {
  if (at == Millis{0}) co_return false;
  const auto now = co_await clock_.now(*line_, answer_by);
  if (!now) co_return Unexpected{now.error()};
  co_return now->earliest >= at;
}

Task<Result<std::string>> ZookeeperStore::search_contender(const core::Holder& holder,
                                                           TimePoint answer_by) {
  const LockName name{holder.domain.substr(settings_.domain.size() + 1)};
  const auto lock = nodes_.lock(name);
  if (!lock) co_return std::string{};
  const SharedRequest list = share(List{.path = *lock});
  const auto listed = co_await line_->ask(list, answer_by);
  if (!listed) co_return Unexpected{listed.error()};
  const std::vector<Child> contenders = in_order(listed->children);
  for (const Child& child : contenders) {
    if (owner_fp_of(child.contender.id) != holder.owner_fp) continue;
    const std::string path = *lock + '/' + child.name;
    const SharedRequest read = share(Read{.path = path});
    const auto there = co_await line_->ask(read, answer_by);
    if (!there) co_return Unexpected{there.error()};
    const bool is_holder = there->verdict == Verdict::done &&
                           there->stat.created == static_cast<Zxid>(holder.token.value());
    if (is_holder) co_return path;
  }
  co_return std::string{};
}

Task<Result<std::string>> ZookeeperStore::contender_of(const StoreRequest& request,
                                                       const StoreSight& sight,
                                                       TimePoint answer_by) {
  const core::Holder* const holder = core::holder_of(request);
  const bool ours = holder != nullptr && !settings_.domain.empty() &&
                    holder->domain.starts_with(settings_.domain + '#');
  if (!ours) co_return std::string{};
  const bool known = sight.mark && sight.mark->fence && sight.mark->fence->exclusive.is(*holder);
  if (!known) {
    auto found = co_await search_contender(*holder, answer_by);
    co_return found;
  }
  const std::string path = sight.mark->contender;
  if (path.empty() || !std::holds_alternative<WriteResource>(request.operation)) co_return path;
  const SharedRequest read = share(Read{.path = path});
  const auto there = co_await line_->ask(read, answer_by);
  if (!there) co_return Unexpected{there.error()};
  co_return there->verdict == Verdict::done ? path : std::string{};
}

Task<Result<ZookeeperStore::Attempt>> ZookeeperStore::look(const StoreRequest& request,
                                                           TimePoint answer_by) {
  const std::string path = path_of(request);
  const TimePoint asked_at = env().now();
  std::vector<SharedRequest> requests;
  requests.push_back(barrier(request, path));
  requests.push_back(share(Read{.path = path}));
  requests.push_back(share(Exists{.path = places_.space(request.space)}));
  const auto answers = co_await line_->ask_all(requests, answer_by);
  if (!answers) co_return only_looked(answers.error());
  const zookeeper::Answer& there = (*answers)[1];
  const zookeeper::Answer& space = (*answers)[2];
  Attempt seen{.sight = {.depth = StoreSight::Depth::all}};
  StoreSight& sight = seen.sight;
  // What was erased here left its number with the node above.
  sight.revision =
      static_cast<std::uint64_t>(std::max(space.stat.created, space.stat.children_modified));
  if (there.verdict == Verdict::done) {
    const auto node = read_node(there.data);
    if (!node) co_return Unexpected{core::not_a_mark(request.key)};
    const auto gone = co_await has_passed(node->passing.value, answer_by);
    if (!gone) co_return only_looked(gone.error());
    sight.text = node->head;
    sight.mark = node->mark;
    sight.aside = there.stat.version;
    if (node->passing.node != Millis{0}) sight.fate = StoreSight::Fate::passes;
    sight.has_value = node->mark.content != core::StoreMark::Content::none && !*gone;
    if (sight.has_value) sight.value = node->value;
    remember(request, {node->head, there.stat.version, asked_at, line_->generation()});
  } else {
    forget(request);
  }
  auto contender = co_await contender_of(request, sight, answer_by);
  if (!contender) co_return only_looked(contender.error());
  sight.contender = *std::move(contender);
  co_return seen;
}

void ZookeeperStore::sweep() {
  const auto now = clock_.known();
  auto line = shared_line_.lock();
  if (!now || !line || env().now() < swept_at_ + kSweepEvery) return;
  swept_at_ = env().now();
  env().spawn(
      sweep_store(std::move(line), places_.expiring(), now->earliest, env().now() + kSweepTime));
}

Task<Result<ZookeeperStore::Attempt>> ZookeeperStore::change_it(const Course& course,
                                                                const StoreChange& change,
                                                                TimePoint answer_by) {
  const StoreRequest& request = course.request;
  const std::string path = path_of(request);
  Passing before;
  if (const auto node = read_node(to_data(course.sight.text, ""))) before = node->passing;
  Millis now{0};
  const bool passes = change.stay == core::Stay::a_while || change.stay == core::Stay::as_value;
  if (passes) {
    const auto read = co_await clock_.now(*line_, answer_by);
    if (!read) co_return only_looked(read.error());
    now = read->latest;
  }
  const Passing passing = passing_after(change, before, now);
  const std::string head = head_of(passing, change.mark);
  const bool stays = change.value == StoreChange::Value::stays && course.sight.has_value;
  const bool is_put = change.value == StoreChange::Value::is_put;
  const std::string none;
  const std::string& value = is_put ? *value_in(request) : stays ? course.sight.value : none;
  Multi multi;
  if (!change.contender.empty()) multi.steps.emplace_back(Check{.path = change.contender});
  multi.steps.push_back(change_of(path, course.sight, to_data(head, value)));
  if (passes) {
    const std::string name = expiry_name(passing.node, course.ticket.id);
    multi.steps.emplace_back(Create{.path = places_.expiring() + '/' + name, .data = path});
  }
  if (!change.record.empty()) {
    multi.steps.emplace_back(
        Create{.path = places_.record(request.space, request.key, course.ticket.id),
               .data = change.record});
  }
  const TimePoint asked_at = env().now();
  const SharedRequest transaction = share(std::move(multi));
  const auto answer = co_await line_->ask(transaction, answer_by);
  if (!answer) co_return Unexpected{answer.error()};
  if (answer->verdict != Verdict::done) {
    auto seen = co_await look(request, answer_by);
    co_return seen;
  }
  const auto version = course.sight.text.empty() ? 0 : static_cast<Version>(course.sight.aside) + 1;
  remember(request, {head, version, asked_at, line_->generation()});
  if (passes) sweep();
  co_return Attempt{.outcome = Attempt::Outcome::made};
}

Task<Result<ZookeeperStore::Attempt>> ZookeeperStore::attempt(const Course& course,
                                                              const StoreChange* change,
                                                              TimePoint answer_by) {
  const std::string* const value = value_in(course.request);
  if (value != nullptr && value->size() > kStoredBytesMax) {
    co_return Unexpected{too_large(value->size())};
  }
  if (change != nullptr) {
    auto changed = co_await change_it(course, *change, answer_by);
    co_return changed;
  }
  auto seen = co_await look(course.request, answer_by);
  // Nothing has ever been stored here.
  if (seen && seen->sight.revision == 0 &&
      !std::holds_alternative<GetKey>(course.request.operation)) {
    const auto ground = co_await lay_ground(answer_by);
    if (!ground) co_return only_looked(ground.error());
    seen = co_await look(course.request, answer_by);
  }
  co_return seen;
}

}  // namespace holdfast::zookeeper
