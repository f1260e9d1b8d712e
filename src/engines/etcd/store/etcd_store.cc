#include "engines/etcd/store/etcd_store.h"

#include <utility>

#include "engines/etcd/store/store_keys.h"

namespace holdfast::etcd {
namespace {

using core::Stay;
using core::StoreChange;
using core::StoreSight;

constexpr std::size_t kRememberedMax = 4096;

const std::string& value_of(const StoreRequest& request) {
  const auto* write = std::get_if<WriteResource>(&request.operation);
  return write != nullptr ? *write->value : std::get<PutKey>(request.operation).value;
}

}  // namespace

EtcdStore::EtcdStore(Env& env, const std::shared_ptr<EtcdPort>& port, StoreSettings settings)
    : MarkedStore{env,
                  port,
                  {.timeout = settings.timeout, .retry = settings.retry, .who = settings.who}},
      port_{port.get()},
      settings_{std::move(settings)},
      keys_{settings_.prefix},
      leases_{env, *port} {}

std::string EtcdStore::mark_of(const StoreRequest& request) const {
  return mark_key(settings_.prefix, request.space, request.key);
}

StoreSight EtcdStore::recall(const StoreRequest& request) {
  StoreSight sight;
  const auto known = remembered_.find(mark_of(request));
  if (known == remembered_.end()) return sight;
  sight.depth = StoreSight::Depth::mark;
  sight.text = known->second.text;
  sight.mark = core::read_mark(sight.text);
  sight.aside = known->second.lease.number;
  if (sight.aside != 0) sight.fate = StoreSight::Fate::passes;
  sight.revision = static_cast<std::uint64_t>(known->second.revision);
  return sight;
}

void EtcdStore::forget(const StoreRequest& request) { remembered_.erase(mark_of(request)); }

void EtcdStore::remember(const StoreRequest& request, Remembered seen) {
  // That there is none is not worth much, and may come true again after something else.
  if (seen.text.empty()) return forget(request);
  if (remembered_.size() >= kRememberedMax) remembered_.clear();
  remembered_.insert_or_assign(mark_of(request), std::move(seen));
}

std::vector<Operation> EtcdStore::look(const StoreRequest& request) const {
  std::vector<Operation> operations;
  operations.push_back(Range{.keys = {mark_of(request)}});
  const auto part = core::wants_value(request) ? Range::Part::all : Range::Part::keys_only;
  operations.push_back(
      Range{.keys = {value_key(settings_.prefix, request.space, request.key)}, .part = part});
  const core::Holder* holder = core::holder_of(request);
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

Result<EtcdStore::Attempt> EtcdStore::see(const StoreRequest& request, const TxnAnswer& answer) {
  Attempt seen{.sight = {.depth = StoreSight::Depth::all}};
  StoreSight& sight = seen.sight;
  sight.revision = static_cast<std::uint64_t>(answer.header.revision);
  if (answer.answers.size() < 2) return Unexpected{core::not_a_mark(request.key)};
  const auto& marks = answer.answers[0].found;
  LeaseId lease{};
  if (!marks.empty()) {
    sight.text = marks[0].value;
    sight.mark = core::read_mark(sight.text);
    lease = marks[0].lease;
    if (!sight.mark) return Unexpected{core::not_a_mark(request.key)};
  }
  sight.aside = lease.number;
  if (lease != LeaseId{}) sight.fate = StoreSight::Fate::passes;
  const auto& values = answer.answers[1].found;
  sight.has_value = !values.empty();
  if (sight.has_value) sight.value = values[0].value;
  if (answer.answers.size() > 2 && !answer.answers[2].found.empty()) {
    const KeyValue& newest = answer.answers[2].found[0];
    const auto token = static_cast<Revision>(core::holder_of(request)->token.value());
    if (newest.created == token) sight.contender = newest.key;
  }
  remember(request, {sight.text, lease, answer.header.revision});
  return seen;
}

Task<Result<LeaseId>> EtcdStore::lease_for(const Course& course,
                                           const StoreChange& change,
                                           TimePoint answer_by) {
  switch (change.stay) {
    case Stay::for_good:
      co_return LeaseId{};
    case Stay::as_before:
      co_return LeaseId{course.sight.aside};
    case Stay::a_while:
      co_return co_await leases_.lasting(core::kStoreMemory, answer_by);
    case Stay::as_value:
      break;
  }
  const Duration time = change.keep.value_or(Millis{0}) + core::kStoreMemory;
  co_return co_await leases_.lasting(time, answer_by);
}

Task<Result<SharedTxn>> EtcdStore::compose(const Course& course,
                                           const StoreChange* change,
                                           TimePoint answer_by) {
  const auto& [space, key, operation] = course.request;
  Txn txn;
  if (change == nullptr) {
    txn.then = look(course.request);
    co_return share(std::move(txn));
  }
  const auto lease = co_await lease_for(course, *change, answer_by);
  if (!lease) co_return Unexpected{lease.error()};
  Compare unchanged{.key = mark_of(course.request)};
  if (!course.sight.text.empty()) {
    unchanged.what = Compare::What::value;
    unchanged.value = course.sight.text;
  }
  txn.when.push_back(std::move(unchanged));
  if (!change->contender.empty()) {
    txn.when.push_back(Compare{.key = change->contender,
                               .number = static_cast<std::int64_t>(change->token.value())});
  }
  txn.then.push_back(
      Put{.key = mark_of(course.request), .value = core::to_text(change->mark), .lease = *lease});
  if (change->value == StoreChange::Value::goes) {
    txn.then.push_back(Erase{.keys = {value_key(settings_.prefix, space, key)}});
  } else if (change->value == StoreChange::Value::is_put) {
    Put put{.key = value_key(settings_.prefix, space, key), .value = value_of(course.request)};
    if (change->keep) {
      const auto kept = co_await leases_.lasting(*change->keep, answer_by);
      if (!kept) co_return Unexpected{kept.error()};
      put.lease = *kept;
    }
    txn.then.push_back(std::move(put));
  }
  if (!change->record.empty()) {
    txn.then.push_back(Put{.key = record_key(settings_.prefix, space, key, course.ticket.id),
                           .value = change->record});
  }
  txn.otherwise = look(course.request);
  co_return share(std::move(txn));
}

EtcdStore::Attempt EtcdStore::made(const StoreRequest& request,
                                   const StoreChange& change,
                                   Revision revision) {
  // The lease of what others keep for a while is read again when it matters.
  if (change.stay == Stay::for_good) {
    remember(request, {core::to_text(change.mark), {}, revision});
  } else {
    forget(request);
  }
  return {.outcome = Attempt::Outcome::made};
}

Task<Result<EtcdStore::Attempt>> EtcdStore::attempt(const Course& course,
                                                    const StoreChange* change,
                                                    TimePoint answer_by) {
  const auto txn = co_await compose(course, change, answer_by);
  if (!txn) {
    Error error = txn.error();
    // A lease that may have been made holds nothing yet.
    if (error.code == Errc::unknown_outcome) error.code = Errc::unavailable;
    if (error.code == Errc::lost) leases_.forget();
    co_return Unexpected{std::move(error)};
  }
  auto answer = co_await port_->committed(*txn, answer_by);
  if (answer && change != nullptr && answer->held) {
    co_return made(course.request, *change, answer->header.revision);
  }
  if (answer) co_return see(course.request, *answer);
  // Somebody has ended them; what stands under them goes, too.
  if (answer.error().code == Errc::lost) leases_.forget();
  co_return Unexpected{std::move(answer).error()};
}

}  // namespace holdfast::etcd
