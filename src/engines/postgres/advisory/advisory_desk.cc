#include "engines/postgres/advisory/advisory_desk.h"

#include <utility>

#include "engines/postgres/advisory/advisory_key.h"
#include "engines/postgres/advisory/advisory_statements.h"
#include "engines/postgres/refusal_error.h"

namespace holdfast::postgres::advisory {
namespace {

// How long to wait for the end of a backend that was told to end.
constexpr const char* kEndWithinMs = "1000";

Error belongs_to_session() {
  return {Errc::unsupported,
          "an advisory lock belongs to its session: its owner alone cannot be asked for it",
          "use mode=lease"};
}

}  // namespace

AdvisoryDesk::AdvisoryDesk(Env& env, std::shared_ptr<PostgresPort> port, Settings settings)
    : env_{env},
      port_{std::move(port)},
      settings_{std::move(settings)},
      bell_{std::make_shared<ChangeBell>(env_, port_, settings_.patience)} {}

Task<Result<Rows>> AdvisoryDesk::ask(Call call, TimePoint answer_by) {
  const SharedCall shared = share(std::move(call));
  auto answer = co_await port_->answered(shared, answer_by);
  co_return rows_of(std::move(answer));
}

Task<Result<LockInfo>> AdvisoryDesk::inspect(LockName name, TimePoint answer_by) {
  const auto self = shared_from_this();
  const std::int64_t key = advisory_key(settings_.prefix, name.text());
  const auto sight = co_await look_at(env_, port_, key, answer_by);
  if (!sight) co_return Unexpected{sight.error()};
  co_return sight->info(name.text());
}

Task<Result<std::vector<LockInfo>>> AdvisoryDesk::list(std::string prefix, TimePoint answer_by) {
  const auto self = shared_from_this();
  const auto sights = co_await look_at_all(env_, port_, settings_.prefix + prefix, answer_by);
  if (!sights) co_return Unexpected{sights.error()};
  std::vector<LockInfo> infos;
  for (const Sight& sight : *sights) {
    infos.push_back(sight.info(sight.full_name.substr(settings_.prefix.size())));
  }
  co_return infos;
}

Task<Result<BreakReport>> AdvisoryDesk::break_lock(LockName name,
                                                   std::string,
                                                   TimePoint answer_by) {
  const auto self = shared_from_this();
  const std::int64_t key = advisory_key(settings_.prefix, name.text());
  const auto sight = co_await look_at(env_, port_, key, answer_by);
  if (!sight) co_return Unexpected{sight.error()};
  if (sight->holders.empty()) {
    co_return Unexpected{Error{Errc::not_found, "nobody holds the lock " + name.text()}};
  }
  BreakReport report;
  for (const Seen& holder : sight->holders) {
    const auto ended = co_await end(holder, answer_by);
    if (!ended) co_return Unexpected{ended.error()};
    report.holders.push_back(holder.contender);
  }
  co_return report;
}

Task<Result<void>> AdvisoryDesk::end(Seen holder, TimePoint answer_by) {
  // First of all: who is ended asks why.
  if (holder.session) {
    Call mark{&kMark, {*holder.session, "t"}};
    const auto marked = co_await ask(std::move(mark), answer_by);
    if (!marked) co_return Unexpected{marked.error()};
  }
  Call terminate{&kTerminate, {holder.backend, kEndWithinMs}};
  const auto ended = co_await ask(std::move(terminate), answer_by);
  if (ended) co_return Result<void>{};
  if (holder.session) {
    Call unmark{&kMark, {*holder.session, "f"}};
    static_cast<void>(co_await ask(std::move(unmark), answer_by));
  }
  Error why = ended.error();
  if (why.code == Errc::denied) {
    why.remedy_text = "connect as the holder's role, or GRANT pg_signal_backend TO this one";
  }
  co_return Unexpected{std::move(why)};
}

Task<Result<Duration>> AdvisoryDesk::extend(LockName, Owner, Millis, TimePoint) {
  co_return Unexpected{belongs_to_session()};
}

Task<Result<ReleaseOutcome>> AdvisoryDesk::release(LockName, Owner, TimePoint) {
  co_return Unexpected{belongs_to_session()};
}

std::unique_ptr<core::LockEar> AdvisoryDesk::listen(LockName name,
                                                    std::function<void()> on_change) {
  return bell_->listen(settings_.prefix + name.text(), std::move(on_change));
}

void AdvisoryDesk::announce(LockName name) { bell_->ring(settings_.prefix + name.text()); }

}  // namespace holdfast::postgres::advisory
