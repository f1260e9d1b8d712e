#include "engines/postgres/advisory/advisory_engine.h"

#include <algorithm>
#include <utility>

#include "base/decimal.h"
#include "core/validity.h"
#include "engines/postgres/advisory/advisory_key.h"
#include "engines/postgres/advisory/advisory_statements.h"
#include "engines/postgres/advisory/look.h"
#include "engines/postgres/array_text.h"
#include "engines/postgres/refusal_error.h"

namespace holdfast::postgres::advisory {
namespace {

bool may_pass(Errc code) { return code == Errc::unknown_outcome || code == Errc::unavailable; }

Result<void> check(const core::LockRequest& request) {
  const char* lacking = nullptr;
  if (request.lock_delay > Millis{0}) lacking = "lock-delay";
  if (request.claim.mode == Mode::permit) lacking = "permits";
  if (request.kind == LeaseKind::detached) lacking = "detached leases";
  if (lacking == nullptr) return {};
  const std::string message = std::string{"PostgreSQL's advisory locks have no "} + lacking;
  return Unexpected{Error{Errc::unsupported, message, "use mode=lease"}};
}

/// The token; 0: none was drawn.
Result<Token> token_of(const Result<Rows>& rows) {
  if (!rows) return Unexpected{rows.error()};
  if (rows->empty() || rows->front().empty()) {
    return Unexpected{Error{Errc::corrupt, "the server's answer to a lock makes no sense"}};
  }
  const Value& drawn = rows->front().front();
  return Token{drawn ? parse_decimal<std::uint64_t>(*drawn).value_or(0) : 0};
}

/// As PostgreSQL's lock_timeout has it: whole milliseconds, 0 for ever.
std::string lock_timeout(Duration wait) {
  const auto ms = std::chrono::ceil<Millis>(wait).count();
  constexpr Millis::rep kMost = 2'147'483'647;
  return std::to_string(ms > kMost ? 0 : std::max<Millis::rep>(ms, 1));
}

Call note_of_waiter(std::int64_t key, std::string full_name, const core::LockRequest& request) {
  return {&kNote,
          {array_text({std::to_string(key)}),
           array_text({std::move(full_name)}),
           array_text({request.owner.fingerprint()}),
           array_text({request.note}),
           array_text({std::nullopt})}};
}

}  // namespace

/// One that waits: the answer, when it comes.
struct Waiting {
  explicit Waiting(Env& env) : changed{env} {}

  std::optional<Result<Answer>> answer{};
  Alarm changed;
};

AdvisoryEngine::AdvisoryEngine(Env& env, std::shared_ptr<PostgresPort> port, Settings settings)
    : env_{env},
      port_{std::move(port)},
      settings_{std::move(settings)},
      holdings_{std::make_shared<Holdings>(env, port_)},
      lines_{std::make_shared<Lines>(
          env, port_, [weak = std::weak_ptr{holdings_}](const std::shared_ptr<Line>& line) {
            if (const auto holdings = weak.lock()) holdings->hear_of_end(line);
          })} {}

AdvisoryEngine::~AdvisoryEngine() = default;

TimePoint AdvisoryEngine::attempt_end(TimePoint answer_by) const {
  return std::min(answer_by, env_.now() + settings_.timeout);
}

Task<Result<core::Grant, AcquireError>> AdvisoryEngine::acquire(core::LockRequest request,
                                                                TimePoint wait_until,
                                                                std::stop_token stop) {
  const auto self = shared_from_this();
  if (const auto can = check(request); !can) co_return Unexpected{AcquireError{can.error()}};
  const bool waits = env_.now() < wait_until;
  const TimePoint last_word = std::max(wait_until, env_.now()) + settings_.patience;
  const std::int64_t key = advisory_key(settings_.prefix, request.name.text());
  TimePoint fails_at = env_.now() + settings_.patience;
  core::Met met = core::Met::nobody;
  for (std::uint32_t attempt = 0;; ++attempt) {
    Result<Taken> taken = Taken{};
    // Where this process has it, it is not free; but readers may share it.
    const On on = waits && lines_->has(key) ? On::line_of_its_own : On::any_line;
    if (on == On::any_line || request.claim.mode == Mode::shared) {
      taken = co_await try_once(request, on, std::min(fails_at, last_word));
    }
    if (taken && !*taken) met = core::Met::others;
    if (taken && !*taken && waits && !stop.stop_requested()) {
      taken = co_await wait_once(request, wait_until, stop);
      if (taken) fails_at = env_.now() + settings_.patience;
    }
    if (taken && *taken) {
      (*taken)->met = met;
      co_return **taken;
    }
    const bool cancelled = waits && stop.stop_requested();
    if (cancelled || (taken && (!waits || env_.now() >= wait_until))) {
      const Errc code = !waits ? Errc::busy : cancelled ? Errc::cancelled : Errc::timeout;
      AcquireError refused = co_await refuse(code, request.name);
      co_return Unexpected{std::move(refused)};
    }
    if (taken) continue;
    const Duration delay = backoff_delay(settings_.retry, attempt, env_.draw());
    const bool late = env_.now() + delay >= std::min(fails_at, last_word);
    if (late || !may_pass(taken.error().code)) co_return Unexpected{AcquireError{taken.error()}};
    co_await env_.sleep_for(delay);
  }
}

Task<AcquireError> AdvisoryEngine::refuse(Errc code, LockName name) {
  AcquireError refused{code};
  if (code == Errc::cancelled) co_return refused;
  const std::int64_t key = advisory_key(settings_.prefix, name.text());
  const TimePoint by = env_.now() + settings_.timeout;
  const auto sight = co_await look_at(env_, port_, key, by);
  if (sight && !sight->holders.empty()) refused.holder = sight->holders.front().contender;
  co_return refused;
}

Task<Result<AdvisoryEngine::Taken>> AdvisoryEngine::try_once(core::LockRequest request,
                                                             On on,
                                                             TimePoint answer_by) {
  const std::int64_t key = advisory_key(settings_.prefix, request.name.text());
  auto line = on == On::any_line ? lines_->quick(request.ttl, key, answer_by)
                                 : lines_->patient(request.ttl, key, answer_by);
  auto use = co_await std::move(line);
  if (!use) co_return Unexpected{use.error()};
  const bool shared = request.claim.mode == Mode::shared;
  const SharedCall call = share({shared ? &kTryShared : &kTryExclusive, {std::to_string(key)}});
  const TimePoint sent_at = env_.now();
  const auto rows = co_await (*use)->ask(call, attempt_end(answer_by));
  auto token = token_of(rows);
  if (token && !(*use)->has_reserved(*token)) co_await reserve(*use, token, answer_by);
  if (!token) {
    // It may have been taken all the same; a line that is over has nothing.
    const Held perhaps{.use = *std::move(use), .mode = request.claim.mode};
    perhaps.leave();
    co_return Unexpected{token.error()};
  }
  if (*token == Token{0}) co_return Taken{};
  const core::Grant grant{
      .token = *token, .sent_at = sent_at, .valid_until = core::deadline_of(sent_at, request.ttl)};
  keep(request, *std::move(use), *token, Held::Note::none);
  co_return Taken{grant};
}

Task<void> AdvisoryEngine::reserve(const LineUse& use, Result<Token>& drawn, TimePoint answer_by) {
  const auto reserved = co_await use->reserve(*drawn, attempt_end(answer_by));
  if (!reserved) drawn = Unexpected{reserved.error()};
}

void AdvisoryEngine::keep(const core::LockRequest& request,
                          LineUse use,
                          Token token,
                          Held::Note note) {
  holdings_->add(request.owner,
                 Held{.use = std::move(use),
                      .mode = request.claim.mode,
                      .full_name = settings_.prefix + request.name.text(),
                      .owner_fp = request.owner.fingerprint(),
                      .note_text = request.note,
                      .token = token,
                      .note = note});
}

Task<Result<AdvisoryEngine::Taken>> AdvisoryEngine::wait_once(core::LockRequest request,
                                                              TimePoint wait_until,
                                                              std::stop_token stop) {
  const std::int64_t key = advisory_key(settings_.prefix, request.name.text());
  auto use = co_await lines_->patient(request.ttl, key, env_.now() + settings_.patience);
  if (!use) co_return Unexpected{use.error()};
  (*use)->tell(note_of_waiter(key, settings_.prefix + request.name.text(), request));
  const auto waiting = std::make_shared<Waiting>(env_);
  const std::string shared = request.claim.mode == Mode::shared ? "t" : "f";
  const TimePoint sent_at = env_.now();
  const SharedCall call =
      share({&kWait, {std::to_string(key), shared, lock_timeout(wait_until - sent_at)}});
  (*use)->send(call, wait_until + settings_.patience, [waiting](Result<Answer> answer) {
    waiting->answer = std::move(answer);
    waiting->changed.ring();
  });
  const auto wake = [this, waiting] { env_.post([waiting] { waiting->changed.ring(); }); };
  const std::stop_callback on_stop{stop, wake};
  while (!waiting->answer && !stop.stop_requested()) {
    co_await waiting->changed.wait_until(TimePoint::max());
  }
  if (stop.stop_requested()) {
    co_await cancel(use->line(), waiting);
    co_return Unexpected{Error{Errc::cancelled}};
  }
  auto token = token_of(rows_of(*std::move(waiting->answer)));
  if (token && !(*use)->has_reserved(*token)) {
    co_await reserve(*use, token, env_.now() + settings_.patience);
  }
  if (token && *token != Token{0}) {
    co_return co_await keep_waited(std::move(request), *std::move(use), *token, sent_at);
  }
  const Held nothing{.use = *std::move(use),
                     .mode = request.claim.mode,
                     .owner_fp = request.owner.fingerprint(),
                     .note = Held::Note::written};
  if (token) {
    nothing.forget();
    co_return Taken{};
  }
  nothing.leave();
  co_return Unexpected{token.error()};
}

/// What a cancellation hits that comes late is not known: the session goes with it, and the lock if
/// it was given after all.
Task<void> AdvisoryEngine::cancel(std::shared_ptr<Line> line, std::shared_ptr<Waiting> waiting) {
  const SharedCall call = share({&kCancel, {line->backend()}});
  const TimePoint by = env_.now() + settings_.timeout;
  if (!waiting->answer) static_cast<void>(co_await port_->answered(call, by));
  while (!waiting->answer && env_.now() < by) co_await waiting->changed.wait_until(by);
  lines_->discard(line);
}

Task<Result<AdvisoryEngine::Taken>> AdvisoryEngine::keep_waited(core::LockRequest request,
                                                                LineUse use,
                                                                Token token,
                                                                TimePoint sent_at) {
  TimePoint confirmed_at = sent_at;
  // The TTL counts from a statement that was answered, and this one was sent before the wait.
  if (env_.now() - sent_at > request.ttl / 3) {
    const TimePoint now = env_.now();
    const TimePoint by = now + std::min(settings_.timeout, request.ttl);
    const bool stands = co_await use->beaten(now, by);
    if (!stands) {
      lines_->discard(use.line());
      co_return Unexpected{Error{Errc::unavailable, "the session ended when it had the lock"}};
    }
    confirmed_at = use->confirmed_at();
  }
  const core::Grant grant{.token = token,
                          .sent_at = confirmed_at,
                          .valid_until = core::deadline_of(confirmed_at, request.ttl)};
  keep(request, std::move(use), token, Held::Note::written);
  co_return Taken{grant};
}

Task<Result<std::vector<core::Fate>>> AdvisoryEngine::renew(std::vector<core::HeldLease> leases,
                                                            Millis,
                                                            TimePoint answer_by) {
  const auto self = shared_from_this();
  const TimePoint called_at = env_.now();
  struct Beat {
    std::shared_ptr<Line> line;
    bool stands;
  };
  std::vector<Beat> beats;
  const auto beat_of = [&](const std::shared_ptr<Line>& line) {
    return std::ranges::find(beats, line, &Beat::line);
  };
  for (const core::HeldLease& lease : leases) {
    const Held* const held = holdings_->find(lease.owner);
    if (held == nullptr || beat_of(held->use.line()) != beats.end()) continue;
    held->use->beat();
    beats.push_back({held->use.line(), false});
  }
  for (Beat& beat : beats) beat.stands = co_await beat.line->beaten(called_at, answer_by);
  std::vector<core::Fate> fates;
  for (const core::HeldLease& lease : leases) {
    const Held* const held = holdings_->find(lease.owner);
    const auto beat = held == nullptr ? beats.end() : beat_of(held->use.line());
    const bool stands = beat != beats.end() && beat->stands;
    const core::Fate otherwise = held == nullptr ? core::Fate::gone : core::Fate::unknown;
    fates.push_back(stands ? core::Fate::renewed : otherwise);
  }
  co_return fates;
}

Task<ReleaseOutcome> AdvisoryEngine::release(core::HeldLease lease,
                                             TimePoint,
                                             TimePoint answer_by) {
  const auto self = shared_from_this();
  const std::optional<Held> held = holdings_->take(lease.owner);
  if (!held || held->use->is_over()) co_return ReleaseOutcome::already_lost;
  const SharedCall call = share(held->unlock());
  const auto rows = co_await held->use->ask(call, answer_by);
  held->forget();
  if (!rows || rows->empty() || rows->front().empty()) co_return ReleaseOutcome::unknown;
  const bool was_held = rows->front().front() == "t";
  co_return was_held ? ReleaseOutcome::released : ReleaseOutcome::already_lost;
}

void AdvisoryEngine::abandon(LockName, Owner owner, Millis) {
  if (const std::optional<Held> held = holdings_->take(owner)) held->leave();
}

}  // namespace holdfast::postgres::advisory
