#include "engines/postgres/postgres_engine.h"

#include <algorithm>
#include <utility>

#include "core/claim_text.h"
#include "engines/postgres/array_text.h"
#include "engines/postgres/lease_answers.h"
#include "engines/postgres/lease_statements.h"
#include "engines/postgres/refusal_error.h"

namespace holdfast::postgres {
namespace {

// A statement keeps the rows it has renewed to itself until it ends.
constexpr std::size_t kRenewMax = 200;

std::string number(Millis time) { return std::to_string(time.count()); }

}  // namespace

PostgresEngine::PostgresEngine(Env& env, std::shared_ptr<PostgresPort> port, Settings settings)
    : QueuedEngine{env, {.timeout = settings.timeout, .in_all = settings.patience}},
      port_{std::move(port)},
      settings_{std::move(settings)},
      handle_{std::make_shared<PostgresEngine*>(this)},
      ear_{make_ear()},
      waiting_{make_waiting()} {}

PostgresEngine::~PostgresEngine() { *handle_ = nullptr; }

std::shared_ptr<Ear> PostgresEngine::make_ear() const {
  const Handle handle = handle_;
  return std::make_shared<Ear>(env_,
                               port_,
                               settings_.timeout,
                               Ear::Hearing{.on_change =
                                                [handle] {
                                                  if (*handle) (*handle)->attended_anew();
                                                },
                                            .on_notice =
                                                [handle](const std::string& text) {
                                                  if (*handle) (*handle)->hear(text);
                                                }});
}

std::shared_ptr<Waiting> PostgresEngine::make_waiting() const {
  const auto on_stray = [handle = handle_](const core::LockRequest& stray) {
    if (*handle) (*handle)->abandon(stray.name, stray.owner, stray.ttl);
  };
  return std::make_shared<Waiting>(
      env_,
      port_,
      Waiting::Settings{.prefix = settings_.prefix,
                        .timeout = settings_.timeout,
                        .session = [ear = ear_] { return ear->session(); },
                        .on_stray = on_stray});
}

std::unique_ptr<core::QueuedEngine::Place> PostgresEngine::enter(
    std::shared_ptr<core::Waiter> waiter) {
  ear_->open();
  return std::make_unique<PlaceIn<Waiting>>(waiting_, std::move(waiter));
}

void PostgresEngine::granted_to(const core::LockRequest& request) {
  if (request.kind == LeaseKind::session) ear_->open();
}

void PostgresEngine::hear(const std::string& text) {
  const auto notice = read_notice(text);
  if (!notice) return;
  if (notice->kind != Notice::Kind::broken) return waiting_->hear(*notice);
  if (const auto news = news_.lock()) news->lost(notice->owner, LossReason::broken);
}

// What ended a session may have ended leases, too; what was broken meanwhile was not heard. And a
// renewal says where the holders hear from now on.
void PostgresEngine::attended_anew() {
  waiting_->attended_anew();
  if (const auto news = news_.lock()) news->in_doubt();
}

SharedCall PostgresEngine::acquire_call(const core::LockRequest& request,
                                        Waits waits,
                                        const Waiting::Session& session) const {
  return share({.statement = &kAcquireStatement,
                .args = {stored(request.name),
                         request.owner.to_string(),
                         number(request.ttl),
                         request.note,
                         core::claim_text(request.claim),
                         number(request.lock_delay),
                         session_text(session),
                         waits == Waits::yes ? "t" : "f"}});
}

Task<Result<void>> PostgresEngine::ask_once(std::shared_ptr<core::Waiter> waiter,
                                            Waits waits,
                                            TimePoint answer_by) {
  const Waiting::Request by = waiting_->request_now();
  const SharedCall call = acquire_call(waiter->request, waits, by.session);
  auto answer = co_await port_->answered(call, answer_by);
  if (waits == Waits::yes) ear_->open();
  const auto rows = rows_of(std::move(answer));
  if (!rows) co_return Unexpected{rows.error()};
  const auto asked = rows->size() == 1 ? read_asked(rows->front()) : senseless("acquire");
  if (!asked) co_return Unexpected{asked.error()};
  waiting_->note(*waiter, *asked, by);
  co_return Result<void>{};
}

Task<Result<core::Removal>> PostgresEngine::remove(LockName name,
                                                   Owner owner,
                                                   std::optional<Token> token,
                                                   TimePoint answer_by) {
  const Value by = token ? Value{std::to_string(token->value())} : std::nullopt;
  const SharedCall call =
      share({.statement = &kReleaseStatement, .args = {stored(name), owner.to_string(), by}});
  auto answer = co_await port_->answered(call, answer_by);
  const auto rows = rows_of(std::move(answer));
  if (!rows) co_return Unexpected{rows.error()};
  co_return read_release(*rows);
}

SharedCall PostgresEngine::renew_call(const std::vector<core::HeldLease>& leases,
                                      Millis ttl) const {
  std::vector<Value> names;
  std::vector<Value> owners;
  std::vector<Value> tokens;
  for (const core::HeldLease& lease : leases) {
    names.emplace_back(stored(lease.name));
    owners.emplace_back(lease.owner.to_string());
    tokens.emplace_back(std::to_string(lease.token.value()));
  }
  return share({.statement = &kRenewStatement,
                .args = {array_text(names),
                         array_text(owners),
                         array_text(tokens),
                         number(ttl),
                         session_text(ear_->session())}});
}

Task<Result<std::vector<core::Fate>>> PostgresEngine::renew(std::vector<core::HeldLease> leases,
                                                            Millis ttl,
                                                            TimePoint answer_by) {
  const auto self = shared_from_this();
  // Soon enough to try another connection while the lease stands.
  const Millis patience = std::min(settings_.timeout, std::max(ttl / 6, Millis{100}));
  std::vector<core::Fate> fates;
  while (fates.size() < leases.size()) {
    const auto from = leases.begin() + static_cast<std::ptrdiff_t>(fates.size());
    const std::size_t count = std::min(leases.size() - fates.size(), kRenewMax);
    const std::vector<core::HeldLease> some(from, from + static_cast<std::ptrdiff_t>(count));
    const SharedCall call = renew_call(some, ttl);
    auto answer = co_await port_->answered(call, std::min(answer_by, env_.now() + patience));
    const auto rows = rows_of(std::move(answer));
    const auto read = rows ? read_renew(*rows, count) : Unexpected{rows.error()};
    if (!read && fates.empty()) co_return Unexpected{read.error()};
    if (!read) break;
    fates.insert(fates.end(), read->begin(), read->end());
  }
  fates.resize(leases.size(), core::Fate::unknown);
  co_return fates;
}

}  // namespace holdfast::postgres
