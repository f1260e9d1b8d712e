#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "base/backoff.h"
#include "base/dispatcher.h"
#include "base/fork.h"
#include "base/invalid.h"
#include "base/secret.h"
#include "core/answer.h"
#include "core/election.h"
#include "holdfast/election.h"
#include "recipes/candidacy.h"
#include "recipes/hand_over.h"
#include "recipes/term.h"

namespace holdfast {
namespace {

constexpr Duration kOthersTurn = std::chrono::seconds{1};

constexpr BackoffPolicy kCampaignAgain{.first = Millis{200}, .max = Millis{5'000}};

std::uint64_t draw() {
  std::uint64_t bits = 0;
  const Owner chance = fresh_owner();
  for (const std::uint8_t byte : chance.bytes()) bits = bits << 8U | byte;
  return bits;
}

Error leads_not() { return {Errc::lost, "this candidate does not lead"}; }

}  // namespace

class Candidate::Loop {
 public:
  Loop(Client client,
       recipes::CandidacyTerms terms,
       const CandidateOptions& options,
       Callbacks callbacks)
      : client_{std::move(client)},
        terms_{std::move(terms)},
        grace_{options.grace},
        after_term_{options.after_term},
        callbacks_{std::move(callbacks)},
        generation_{fork_generation()} {
    thread_.post([this] { run(); });
  }

  ~Loop() {
    if (fork_generation() != generation_) {
      thread_.abandon();
      return;
    }
    stop_.request_stop();
    step_down();
    rest_over_.notify_all();
  }

  const std::string& id() const { return terms_.id; }

  std::shared_ptr<Term> term() const {
    const std::lock_guard lock{mutex_};
    return term_;
  }

  void step_down() {
    if (const auto led = term()) led->request_stop();
  }

  Result<void> hand_over(std::string_view to, Millis patience) {
    // Known before the work is asked to stop in vain.
    const auto lock = client_.inspect(terms_.name);
    if (!lock) return Unexpected{lock.error()};
    if (client_.capabilities().fifo && !core::is_waiting(*lock, to)) {
      return Unexpected{
          Error{Errc::not_found, "no candidate " + std::string{to} + " waits for " + terms_.name}};
    }
    const auto answer = std::make_shared<core::Answer<Result<void>>>();
    {
      const std::lock_guard guard{mutex_};
      if (!term_) return Unexpected{leads_not()};
      if (order_) return Unexpected{Error{Errc::in_progress, "it is being handed over already"}};
      order_ = Order{.to = std::string{to}, .patience = patience, .answer = answer};
    }
    step_down();
    return answer->take();
  }

 private:
  /// Somebody who waits for the leadership to be handed over, and for whom to.
  struct Order {
    std::string to;
    Millis patience;
    std::shared_ptr<core::Answer<Result<void>>> answer;
  };

  void run() {
    for (std::uint32_t failures = 0; !stop_.stop_requested();) {
      auto lease = recipes::acquire_as_candidate(client_, terms_, stop_.get_token());
      if (lease) {
        failures = 0;
        lead(std::make_shared<Term>(client_, terms_.id, *std::move(lease), grace_));
        if (after_term_ == AfterTerm::retire) return;
        // Where there is no queue, who was there a moment ago would be the first again.
        if (!client_.capabilities().fifo) rest(kOthersTurn);
        continue;
      }
      if (stop_.stop_requested()) return;
      if (callbacks_.on_error) callbacks_.on_error(lease.error());
      if (lease.error().code == Errc::shutting_down) return;
      rest(backoff_delay(kCampaignAgain, failures++, draw()));
    }
  }

  void lead(const std::shared_ptr<Term>& led) {
    {
      const std::lock_guard lock{mutex_};
      term_ = led;
    }
    // The loop may have been told to stop before it had a term to stop.
    if (stop_.stop_requested()) led->request_stop();
    if (callbacks_.on_lost) led->on_lost(callbacks_.on_lost);
    const Leadership term{led};
    callbacks_.on_elected(term, term.stop_token());
    settle(led);
    led->forget_on_lost();
  }

  void settle(const std::shared_ptr<Term>& led) {
    std::optional<Order> order;
    {
      const std::lock_guard lock{mutex_};
      term_.reset();
      order = std::exchange(order_, std::nullopt);
    }
    if (order) {
      const auto handed = std::make_shared<core::Answer<Result<void>>>();
      recipes::HandOver::start(led, order->to, order->patience, [handed](Result<void> outcome) {
        handed->set(std::move(outcome));
      });
      order->answer->set(handed->take());
    }
    if (!led->is_leaving()) led->step_down();
  }

  void rest(Duration pause) {
    std::unique_lock lock{mutex_};
    rest_over_.wait_for(lock, stop_.get_token(), pause, [] { return false; });
  }

  Client client_;
  recipes::CandidacyTerms terms_;
  Millis grace_;
  AfterTerm after_term_;
  Callbacks callbacks_;
  std::uint32_t generation_;
  std::stop_source stop_;
  mutable std::mutex mutex_;
  std::condition_variable_any rest_over_;
  std::shared_ptr<Term> term_;
  std::optional<Order> order_;
  /// Last: what runs there uses the others, and has ended when it is gone.
  Dispatcher thread_;
};

Candidate::Candidate(std::unique_ptr<Loop> loop) : loop_{std::move(loop)} {}
Candidate::~Candidate() = default;
Candidate::Candidate(Candidate&&) noexcept = default;
Candidate& Candidate::operator=(Candidate&& other) noexcept = default;

Result<Candidate> Candidate::start(const Client& client,
                                   std::string_view name,
                                   const CandidateOptions& options,
                                   Callbacks callbacks) {
  if (!callbacks.on_elected) {
    return invalid("a candidate has no on_elected", "give it the leader's work");
  }
  auto terms = recipes::check_candidacy(name, options.id, options.value, {.ttl = options.ttl});
  if (!terms) return Unexpected{terms.error()};
  return Candidate{
      std::make_unique<Loop>(client, *std::move(terms), options, std::move(callbacks))};
}

const std::string& Candidate::id() const { return loop_->id(); }
bool Candidate::leads() const { return loop_->term() != nullptr; }
void Candidate::step_down() { loop_->step_down(); }

Result<void> Candidate::hand_over(std::string_view id, Millis patience) {
  return loop_->hand_over(id, patience);
}

}  // namespace holdfast
