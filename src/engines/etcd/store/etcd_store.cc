#include "engines/etcd/store/etcd_store.h"

#include <algorithm>
#include <utility>

namespace holdfast::etcd {
namespace {

/// Well within kMemory: what a key remembers outlasts every repetition.
constexpr Millis kTimeoutMax = std::chrono::minutes{5};
constexpr Duration kMemory = std::chrono::minutes{10};
/// An attempt that is not answered leaves time to ask what became of it.
constexpr int kAttempts = 3;
constexpr std::size_t kRememberedMax = 4096;

StoreError damaged(const std::string& key) {
  return {Errc::corrupt,
          "what is stored with the key " + key + " is not a mark of this store",
          "another program has written there: use another prefix"};
}

bool may_pass(Errc code) {
  return code == Errc::unknown_outcome || code == Errc::unavailable || code == Errc::lost;
}

/// Whether somebody might have been told of something that has not been done yet.
bool changes_values(const StoreRequest& request) {
  return std::holds_alternative<PutKey>(request.operation) ||
         std::holds_alternative<EraseKey>(request.operation) ||
         std::holds_alternative<WriteResource>(request.operation) ||
         std::holds_alternative<RebaseResource>(request.operation);
}

}  // namespace

struct EtcdStore::Course {
  const StoreRequest& request;
  std::string mark_key;
  std::string value_key;
  StoreTicket ticket;
  TimePoint answer_by;
  Sight sight{};

  /// A change that may have been made, or may be made yet: of this mark, and the first of its kind.
  struct Doubt {
    std::string of_mark;
    Version since{0};
  };
  std::optional<Doubt> doubt{};
  std::uint32_t failures{0};
};

EtcdStore::EtcdStore(Env& env, const std::shared_ptr<EtcdPort>& port, StoreSettings settings)
    : TaskStore{env, port},
      port_{port.get()},
      settings_{std::move(settings)},
      keys_{settings_.prefix},
      leases_{env, *port} {
  settings_.timeout = std::min(settings_.timeout, kTimeoutMax);
}

Sight EtcdStore::recall(const std::string& key) const {
  Sight sight;
  const auto known = remembered_.find(key);
  if (known == remembered_.end()) return sight;
  sight.depth = Sight::Depth::mark;
  sight.text = known->second.text;
  sight.mark = read_mark(sight.text);
  sight.lease = known->second.lease;
  sight.revision = known->second.revision;
  return sight;
}

void EtcdStore::remember(const std::string& key, Remembered seen) {
  // That there is none is not worth much, and may come true again after something else.
  if (seen.text.empty()) {
    remembered_.erase(key);
    return;
  }
  if (remembered_.size() >= kRememberedMax) remembered_.clear();
  remembered_.insert_or_assign(key, std::move(seen));
}

std::vector<Operation> EtcdStore::look(const Course& course) const {
  std::vector<Operation> operations;
  operations.push_back(Range{.keys = {course.mark_key}});
  const auto part = wants_value(course.request) ? Range::Part::all : Range::Part::keys_only;
  operations.push_back(Range{.keys = {course.value_key}, .part = part});
  const core::Holder* holder = holder_of(course.request);
  const std::string ours = settings_.domain + '#';
  if (holder == nullptr || settings_.domain.empty() || !holder->domain.starts_with(ours)) {
    return operations;
  }
  const LockName lock{holder->domain.substr(ours.size())};
  operations.push_back(Range{.keys = keys_.contenders(lock),
                             .order = Range::Order::newest_first,
                             .part = Range::Part::keys_only,
                             .limit = 1,
                             .created_by = static_cast<Revision>(holder->token.value())});
  return operations;
}

Result<Sight, StoreError> EtcdStore::see(const Course& course, const TxnAnswer& answer) {
  Sight sight{.depth = Sight::Depth::all, .revision = answer.header.revision};
  if (answer.answers.size() < 2) return Unexpected{damaged(course.request.key)};
  const auto& marks = answer.answers[0].found;
  if (!marks.empty()) {
    sight.text = marks[0].value;
    sight.mark = read_mark(sight.text);
    sight.lease = marks[0].lease;
    if (!sight.mark) return Unexpected{damaged(course.request.key)};
  }
  const auto& values = answer.answers[1].found;
  sight.has_value = !values.empty();
  if (sight.has_value) sight.value = values[0].value;
  if (answer.answers.size() > 2 && !answer.answers[2].found.empty()) {
    const KeyValue& newest = answer.answers[2].found[0];
    const auto token = static_cast<Revision>(holder_of(course.request)->token.value());
    if (newest.created == token) sight.contender = newest.key;
  }
  remember(course.mark_key, {sight.text, sight.lease, sight.revision});
  return sight;
}

Result<std::optional<StoreStep>, StoreError> EtcdStore::next_step(const Course& course) const {
  const Sight& sight = course.sight;
  const bool looked = sight.depth == Sight::Depth::all;
  if (!looked && !decides_by_mark(course.request, sight)) return std::optional<StoreStep>{};
  auto step = decide(course.request, sight, course.ticket);
  if (!looked && (!step || !step->change)) return std::optional<StoreStep>{};
  const bool was_done = step && step->reply.changed && !step->change;
  if (course.doubt && !was_done && changes_values(course.request)) {
    // Refused, although the earlier attempt may still find what it needs; or so much has happened
    // that its traces would be gone.
    const bool may_come = !step && sight.text == course.doubt->of_mark;
    if (may_come || !remembers(sight, course.doubt->since)) {
      return Unexpected{core::unanswered(course.request)};
    }
  }
  if (!step) return Unexpected{std::move(step).error()};
  return std::optional{*std::move(step)};
}

Task<Result<LeaseId>> EtcdStore::lease_for(const Course& course, const StoreChange& change) {
  switch (change.stay) {
    case Stay::for_good:
      co_return LeaseId{};
    case Stay::as_before:
      co_return course.sight.lease;
    case Stay::a_while:
      co_return co_await leases_.lasting(kMemory, course.answer_by);
    case Stay::as_value:
      break;
  }
  const Duration time = change.keep.value_or(Millis{0}) + kMemory;
  co_return co_await leases_.lasting(time, course.answer_by);
}

Task<Result<SharedTxn>> EtcdStore::compose(Course& course, const StoreChange* change) {
  Txn txn;
  if (change == nullptr) {
    txn.then = look(course);
    co_return share(std::move(txn));
  }
  const auto lease = co_await lease_for(course, *change);
  if (!lease) co_return Unexpected{lease.error()};
  Compare unchanged{.key = course.mark_key};
  if (!course.sight.text.empty()) {
    unchanged.what = Compare::What::value;
    unchanged.value = course.sight.text;
  }
  txn.when.push_back(std::move(unchanged));
  if (!change->contender.empty()) {
    txn.when.push_back(Compare{.key = change->contender,
                               .number = static_cast<std::int64_t>(change->token.value())});
  }
  txn.then.push_back(Put{.key = course.mark_key, .value = to_text(change->mark), .lease = *lease});
  if (change->value == StoreChange::Value::goes) {
    txn.then.push_back(Erase{.keys = {course.value_key}});
  } else if (change->value == StoreChange::Value::is_put) {
    Put put{.key = course.value_key};
    if (change->keep) {
      const auto kept = co_await leases_.lasting(*change->keep, course.answer_by);
      if (!kept) co_return Unexpected{kept.error()};
      put.lease = *kept;
    }
    const auto* write = std::get_if<WriteResource>(&course.request.operation);
    put.value = write != nullptr ? *write->value : std::get<PutKey>(course.request.operation).value;
    txn.then.push_back(std::move(put));
  }
  if (!change->record.empty()) {
    const auto& [space, key, operation] = course.request;
    txn.then.push_back(Put{.key = record_key(settings_.prefix, space, key, course.ticket.id),
                           .value = change->record});
  }
  txn.otherwise = look(course);
  co_return share(std::move(txn));
}

std::optional<StoreResult> EtcdStore::take(Course& course,
                                           const std::optional<StoreStep>& step,
                                           Result<TxnAnswer> answer) {
  const bool changes = step.has_value();
  if (answer && changes && answer->held) {
    const StoreChange& change = *step->change;
    // The lease of what others keep for a while is read again when it matters.
    if (change.stay == Stay::for_good) {
      remember(course.mark_key, {to_text(change.mark), {}, answer->header.revision});
    } else {
      remembered_.erase(course.mark_key);
    }
    return StoreResult{step->reply};
  }
  if (answer) {
    auto sight = see(course, *answer);
    if (!sight) return StoreResult{Unexpected{std::move(sight).error()}};
    course.sight = *std::move(sight);
    return std::nullopt;
  }
  const Errc code = answer.error().code;
  if (code == Errc::unknown_outcome && changes) {
    const Version since = course.doubt ? course.doubt->since : step->change->mark.version;
    course.doubt = Course::Doubt{course.sight.text, since};
  }
  // Somebody has ended them; what stands under them goes, too.
  if (code == Errc::lost) leases_.forget();
  course.sight = {};
  remembered_.erase(course.mark_key);
  const Duration pause = backoff_bound(settings_.retry, course.failures);
  if (may_pass(code) && env().now() + pause < course.answer_by) return std::nullopt;
  if (course.doubt) return StoreResult{Unexpected{core::unanswered(course.request)}};
  StoreError error{std::move(answer).error()};
  // Whatever was not answered has only looked.
  if (may_pass(code)) error.code = Errc::unavailable;
  return StoreResult{Unexpected{std::move(error)}};
}

Task<StoreResult> EtcdStore::settle(const StoreRequest& request) {
  const Duration patience = settings_.timeout;
  Course course{.request = request,
                .mark_key = mark_key(settings_.prefix, request.space, request.key),
                .value_key = value_key(settings_.prefix, request.space, request.key),
                .ticket = {.id = std::to_string(env().draw()), .who = settings_.who},
                .answer_by = env().now() + patience};
  course.sight = recall(course.mark_key);
  while (true) {
    const auto step = next_step(course);
    if (!step) co_return Unexpected{step.error()};
    if (*step && !(*step)->change) co_return (*step)->reply;
    const StoreChange* change = *step ? &*(*step)->change : nullptr;
    const auto txn = co_await compose(course, change);
    Result<TxnAnswer> answer = Unexpected{Error{Errc::unavailable, "nothing was sent"}};
    if (txn) {
      const TimePoint attempt = env().now() + patience / kAttempts;
      answer = co_await port_->committed(*txn, std::min(attempt, course.answer_by));
    } else {
      answer = Unexpected{txn.error()};
      // A lease that may have been made holds nothing yet.
      if (answer.error().code == Errc::unknown_outcome) {
        answer = Unexpected{Error{Errc::unavailable, txn.error().message}};
      }
    }
    const bool failed = !answer;
    if (auto result = take(course, *step, std::move(answer))) co_return *std::move(result);
    if (!failed) continue;
    co_await env().sleep_for(backoff_delay(settings_.retry, course.failures++, env().draw()));
  }
}

}  // namespace holdfast::etcd
