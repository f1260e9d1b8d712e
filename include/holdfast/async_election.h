// Leader election for Boost.Asio programs: with coroutines, futures, callbacks or any completion
// token.
//
//     auto term = co_await holdfast::async_campaign(client, "billing", {.value = address});
//     if (!term) co_return report(term.error());
//     co_await serve(term->epoch(), term->stop_token());
//     co_await holdfast::async_step_down(std::move(*term));
//
// Completion and cancellation as holdfast/async.h has them.

#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "holdfast/async.h"
#include "holdfast/election.h"

namespace holdfast {

using CampaignSignature = void(Result<Leadership, AcquireError>);
using HandOverSignature = void(Result<void>);
using LeaderSignature = void(Result<std::optional<Leader>>);

namespace detail {

/// A handler that can be copied, as engines do with their callbacks, and called once.
template <class Handler>
auto shared_completion(Handler&& handler) {
  using Pending = Completion<std::decay_t<Handler>>;
  auto pending =
      std::make_shared<std::optional<Pending>>(std::in_place, std::forward<Handler>(handler));
  return [pending](auto value) {
    Pending completion = std::move(**pending);
    pending->reset();
    Pending::post(std::move(completion), std::move(value));
  };
}

/// Requested through the handler's cancellation slot.
template <class Handler>
std::stop_token stop_of(Handler& handler) {
  std::stop_source stop;
  auto slot = boost::asio::get_associated_cancellation_slot(handler);
  if (slot.is_connected()) {
    slot.assign([stop](boost::asio::cancellation_type type) mutable {
      if (type != boost::asio::cancellation_type::none) stop.request_stop();
    });
  }
  return stop.get_token();
}

/// Owns what it needs: by the time it starts, the caller's views may be gone.
class CampaignInitiation {
 public:
  CampaignInitiation(Client client, std::string_view name, const CandidateOptions& options)
      : client_{std::move(client)},
        name_{name},
        value_{options.value},
        id_{options.id},
        options_{options} {}

  template <class Handler>
  void operator()(Handler&& handler) {
    const std::stop_token stop = stop_of(handler);
    options_.value = value_;
    options_.id = id_;
    holdfast::async_campaign(
        client_, name_, options_, stop, shared_completion(std::forward<Handler>(handler)));
  }

 private:
  Client client_;
  std::string name_;
  std::string value_;
  std::string id_;
  CandidateOptions options_;
};

class StepDownInitiation {
 public:
  explicit StepDownInitiation(Leadership term) : term_{std::move(term)} {}

  template <class Handler>
  void operator()(Handler&& handler) {
    term_.async_step_down(shared_completion(std::forward<Handler>(handler)));
  }

 private:
  Leadership term_;
};

class HandOverInitiation {
 public:
  HandOverInitiation(Leadership& term, std::string_view id, Millis patience)
      : term_{&term}, id_{id}, patience_{patience} {}

  template <class Handler>
  void operator()(Handler&& handler) {
    term_->async_hand_over(id_, patience_, shared_completion(std::forward<Handler>(handler)));
  }

 private:
  Leadership* term_;
  std::string id_;
  Millis patience_;
};

class NextLeaderInitiation {
 public:
  explicit NextLeaderInitiation(LeaderWatch& watch) : watch_{&watch} {}

  template <class Handler>
  void operator()(Handler&& handler) {
    const std::stop_token stop = stop_of(handler);
    watch_->async_next(stop, shared_completion(std::forward<Handler>(handler)));
  }

 private:
  LeaderWatch* watch_;
};

}  // namespace detail

/// campaign() for completion tokens: completes with Result<Leadership, AcquireError>.
template <class CompletionToken = boost::asio::use_awaitable_t<>>
auto async_campaign(Client client,
                    std::string_view name,
                    const CandidateOptions& options = {},
                    CompletionToken&& token = CompletionToken{}) {
  return boost::asio::async_initiate<CompletionToken, CampaignSignature>(
      detail::CampaignInitiation{std::move(client), name, options}, token);
}

/// Leadership::step_down for completion tokens: completes with the ReleaseOutcome.
template <class CompletionToken = boost::asio::use_awaitable_t<>>
auto async_step_down(Leadership term, CompletionToken&& token = CompletionToken{}) {
  return boost::asio::async_initiate<CompletionToken, ReleaseSignature>(
      detail::StepDownInitiation{std::move(term)}, token);
}

/// Leadership::hand_over for completion tokens: completes with Result<void>. `term` outlives it.
/// Cannot be cancelled.
template <class CompletionToken = boost::asio::use_awaitable_t<>>
auto async_hand_over(Leadership& term,
                     std::string_view id,
                     Millis patience = Millis{10'000},
                     CompletionToken&& token = CompletionToken{}) {
  return boost::asio::async_initiate<CompletionToken, HandOverSignature>(
      detail::HandOverInitiation{term, id, patience}, token);
}

/// LeaderWatch::next for completion tokens: completes with Result<std::optional<Leader>>. `watch`
/// outlives it.
template <class CompletionToken = boost::asio::use_awaitable_t<>>
auto async_next_leader(LeaderWatch& watch, CompletionToken&& token = CompletionToken{}) {
  return boost::asio::async_initiate<CompletionToken, LeaderSignature>(
      detail::NextLeaderInitiation{watch}, token);
}

}  // namespace holdfast
