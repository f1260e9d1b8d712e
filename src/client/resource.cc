#include <utility>

#include "client/resource_state.h"
#include "core/limits.h"

namespace holdfast {
namespace {

using State = Resource::State;
using Change = std::optional<std::string>;

/// Nothing: another operation is in flight.
bool try_begin(State& state) {
  const std::lock_guard lock{state.mutex};
  return !std::exchange(state.in_flight, true);
}

void begin(State& state) {
  std::unique_lock lock{state.mutex};
  state.idle.wait(lock, [&] { return !state.in_flight; });
  state.in_flight = true;
}

void end(State& state) {
  {
    const std::lock_guard lock{state.mutex};
    state.in_flight = false;
  }
  state.idle.notify_one();
}

StoreError busy() {
  return {Errc::busy,
          "another operation on the resource is in flight",
          "wait for it: a resource does one operation at a time"};
}

StoreRequest to_read(const State& state) {
  return {.key = state.key,
          .operation = ReadResource{.holder = state.holder, .opened = core::Opened::before}};
}

/// While in flight, nobody else touches the sequence.
Result<StoreRequest, StoreError> to_write(const State& state, const Change& change) {
  if (change) {
    if (auto good = core::check_value(*change); !good) {
      return Unexpected{StoreError{std::move(good).error()}};
    }
  }
  if (state.unsettled && *state.unsettled != change) {
    return Unexpected{StoreError{Errc::unknown_outcome,
                                 "nobody knows whether the last operation was done",
                                 "repeat it exactly to settle it, or open the resource again"}};
  }
  return StoreRequest{.key = state.key,
                      .operation = WriteResource{.holder = state.holder,
                                                 .opened = core::Opened::before,
                                                 .sequence = state.sequence + 1,
                                                 .value = change}};
}

Result<std::optional<Entry>, StoreError> end_read(State& state, StoreResult reply) {
  end(state);
  if (!reply) return Unexpected{std::move(reply).error()};
  return std::move(reply->entry);
}

Result<WriteReceipt, StoreError> end_write(State& state, Change change, StoreResult reply) {
  if (reply) {
    const std::lock_guard lock{state.mutex};
    state.sequence = reply->sequence;
    state.unsettled.reset();
  } else if (reply.error().code == Errc::unknown_outcome) {
    state.unsettled = std::move(change);
  }
  end(state);
  if (!reply) return Unexpected{std::move(reply).error()};
  return WriteReceipt{.applied = reply->applied,
                      .version = reply->version,
                      .token = state.holder.token,
                      .sequence = reply->sequence};
}

Result<WriteReceipt, StoreError> change_now(State& state, const Change& change) {
  begin(state);
  auto request = to_write(state, change);
  if (!request) {
    end(state);
    return Unexpected{std::move(request).error()};
  }
  return end_write(state, change, state.store->perform(*request));
}

void change_later(const std::shared_ptr<State>& state,
                  Change change,
                  Resource::WriteCallback callback) {
  if (!try_begin(*state)) return callback(Unexpected{busy()});
  auto request = to_write(*state, change);
  if (!request) {
    end(*state);
    return callback(Unexpected{std::move(request).error()});
  }
  auto deliver = [state, change = std::move(change), callback = std::move(callback)](
                     StoreResult reply) { callback(end_write(*state, change, std::move(reply))); };
  state->store->async_perform(std::move(*request), std::move(deliver));
}

}  // namespace

Resource::Resource(std::shared_ptr<State> state) : state_{std::move(state)} {}
Resource::~Resource() = default;
Resource::Resource(Resource&&) noexcept = default;
Resource& Resource::operator=(Resource&&) noexcept = default;

const std::string& Resource::name() const { return state_->key; }
Token Resource::token() const { return state_->holder.token; }

std::uint64_t Resource::sequence() const {
  const std::lock_guard lock{state_->mutex};
  return state_->sequence;
}

Result<std::optional<Entry>, StoreError> Resource::read() {
  begin(*state_);
  return end_read(*state_, state_->store->perform(to_read(*state_)));
}

Result<WriteReceipt, StoreError> Resource::write(std::string_view value) {
  return change_now(*state_, std::string{value});
}

Result<WriteReceipt, StoreError> Resource::erase() { return change_now(*state_, std::nullopt); }

void Resource::async_read(ReadCallback callback) {
  if (!try_begin(*state_)) return callback(Unexpected{busy()});
  auto deliver = [state = state_, callback = std::move(callback)](StoreResult reply) {
    callback(end_read(*state, std::move(reply)));
  };
  state_->store->async_perform(to_read(*state_), std::move(deliver));
}

void Resource::async_write(std::string_view value, WriteCallback callback) {
  change_later(state_, std::string{value}, std::move(callback));
}

void Resource::async_erase(WriteCallback callback) {
  change_later(state_, std::nullopt, std::move(callback));
}

}  // namespace holdfast
