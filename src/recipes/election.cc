#include "holdfast/election.h"

#include <utility>

#include "core/answer.h"
#include "recipes/candidacy.h"
#include "recipes/hand_over.h"
#include "recipes/term.h"

namespace holdfast {
namespace {

using Elected = Result<Leadership, AcquireError>;

}  // namespace

Leadership::Leadership(std::shared_ptr<Term> term) : term_{std::move(term)} {}

Leadership::~Leadership() {
  if (term_ && !term_->is_leaving()) term_->step_down();
}

Leadership& Leadership::operator=(Leadership&& other) noexcept {
  if (this == &other) return *this;
  if (term_ && !term_->is_leaving()) term_->step_down();
  term_ = std::move(other.term_);
  return *this;
}

const std::string& Leadership::id() const { return term_->id(); }
Token Leadership::epoch() const { return term_->lease().token(); }
const Lease& Leadership::lease() const { return term_->lease(); }
std::stop_token Leadership::stop_token() const { return term_->stop_token(); }
void Leadership::request_stop() { term_->request_stop(); }
ReleaseOutcome Leadership::step_down() { return term_->step_down(); }

void Leadership::async_step_down(std::function<void(ReleaseOutcome)> callback) {
  // The Leadership may go meanwhile, and with it the Term unless somebody else keeps it.
  term_->async_step_down([term = term_, callback = std::move(callback)](ReleaseOutcome outcome) {
    callback(outcome);
  });
}

void Leadership::async_hand_over(std::string_view id,
                                 Millis patience,
                                 std::function<void(Result<void>)> callback) {
  recipes::HandOver::start(term_, std::string{id}, patience, std::move(callback));
}

Result<void> Leadership::hand_over(std::string_view id, Millis patience) {
  const auto answer = std::make_shared<core::Answer<Result<void>>>();
  async_hand_over(
      id, patience, [answer](Result<void> outcome) { answer->set(std::move(outcome)); });
  return answer->take();
}

void async_campaign(const Client& client,
                    std::string_view name,
                    const CandidateOptions& options,
                    std::stop_token stop,
                    std::function<void(Result<Leadership, AcquireError>)> callback) {
  auto terms = recipes::check_candidacy(name, options.id, options.value, {.ttl = options.ttl});
  if (!terms) return callback(Unexpected{AcquireError{terms.error()}});
  auto done = [client, id = terms->id, grace = options.grace, callback = std::move(callback)](
                  Result<Lease, AcquireError> lease) {
    if (!lease) return callback(Unexpected{std::move(lease).error()});
    callback(Leadership{std::make_shared<Term>(client, id, *std::move(lease), grace)});
  };
  recipes::Candidacy::start(client, *std::move(terms), std::move(stop), std::move(done));
}

Elected campaign(const Client& client,
                 std::string_view name,
                 const CandidateOptions& options,
                 std::stop_token stop) {
  const auto answer = std::make_shared<core::Answer<Elected>>();
  async_campaign(client, name, options, std::move(stop), [answer](Elected elected) {
    answer->set(std::move(elected));
  });
  return answer->take();
}

}  // namespace holdfast
