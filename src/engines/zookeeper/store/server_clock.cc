#include "engines/zookeeper/store/server_clock.h"

namespace holdfast::zookeeper {
namespace {

constexpr Duration kGoodFor = std::chrono::minutes{10};

}  // namespace

std::optional<ServerClock::Now> ServerClock::known() const {
  if (!reading_ || env_.now() - reading_->answered_at > kGoodFor) return std::nullopt;
  const auto since = [this](TimePoint then) {
    return std::chrono::floor<Millis>(env_.now() - then);
  };
  // What the servers tell is cut off to the millisecond, and so is what has passed since.
  return Now{.earliest = reading_->told + since(reading_->answered_at),
             .latest = reading_->told + since(reading_->sent_at) + Millis{2}};
}

Task<Result<ServerClock::Now>> ServerClock::now(StoreLine& line, TimePoint answer_by) {
  if (const auto read = known()) co_return *read;
  const SharedRequest touch = share(Write{.path = path_});
  Reading reading{.sent_at = env_.now()};
  const auto answer = co_await line.ask(touch, answer_by);
  if (!answer) co_return Unexpected{answer.error()};
  if (answer->verdict != Verdict::done) {
    co_return Unexpected{Error{Errc::not_found, "there is no node " + path_}};
  }
  reading.told = answer->stat.modified_at;
  reading.answered_at = env_.now();
  reading_ = reading;
  co_return *known();
}

}  // namespace holdfast::zookeeper
