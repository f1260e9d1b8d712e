#include <utility>

#include "core/answer.h"
#include "core/backend.h"
#include "core/election.h"
#include "core/limits.h"
#include "holdfast/election.h"
#include "recipes/leader.h"

namespace holdfast {
namespace recipes {

std::optional<Leader> leader_of(const LockInfo& lock) {
  if (lock.holders.empty()) return std::nullopt;
  const Contender& holder = lock.holders.front();
  auto candidate = core::read_candidate(holder.label);
  if (!candidate) candidate = core::CandidateLabel{.id = {}, .value = holder.label};
  return Leader{.id = std::move(candidate->id),
                .value = std::move(candidate->value),
                .epoch = holder.token,
                .host = holder.host,
                .pid = holder.pid,
                .since_ms = holder.since_ms};
}

}  // namespace recipes

Result<std::optional<Leader>> find_leader(const Client& client, std::string_view name) {
  Client asked = client;
  const auto lock = asked.inspect(name);
  if (!lock) return Unexpected{lock.error()};
  return recipes::leader_of(*lock);
}

struct LeaderWatch::Shared {
  std::shared_ptr<LockObservation> lock;
  std::stop_source end{};
};

namespace {

/// Stops when either of two asks for it.
class EitherStop {
 public:
  EitherStop(const std::stop_token& one, const std::stop_token& other)
      : on_one_{one, Forward{source_}}, on_other_{other, Forward{source_}} {}

  std::stop_token token() const { return source_.get_token(); }

 private:
  struct Forward {
    std::stop_source to;
    void operator()() { to.request_stop(); }
  };

  std::stop_source source_;
  std::stop_callback<Forward> on_one_;
  std::stop_callback<Forward> on_other_;
};

}  // namespace

LeaderWatch::LeaderWatch(std::shared_ptr<Shared> shared) : shared_{std::move(shared)} {}
LeaderWatch::LeaderWatch(LeaderWatch&&) noexcept = default;

LeaderWatch& LeaderWatch::operator=(LeaderWatch&& other) noexcept {
  if (this == &other) return *this;
  if (shared_) shared_->end.request_stop();
  shared_ = std::move(other.shared_);
  return *this;
}

LeaderWatch::~LeaderWatch() {
  if (shared_) shared_->end.request_stop();
}

Result<LeaderWatch> LeaderWatch::start(const Client& client, std::string_view name) {
  if (auto good = core::check_name(name); !good) return Unexpected{good.error()};
  return LeaderWatch{std::make_shared<Shared>(Shared{.lock = client.backend()->observe(name)})};
}

void LeaderWatch::async_next(std::stop_token stop,
                             std::function<void(Result<std::optional<Leader>>)> callback) {
  const auto either = std::make_shared<EitherStop>(stop, shared_->end.get_token());
  shared_->lock->next(either->token(),
                      [either, callback = std::move(callback)](const Result<LockInfo>& lock) {
                        if (!lock) return callback(Unexpected{lock.error()});
                        callback(recipes::leader_of(*lock));
                      });
}

Result<std::optional<Leader>> LeaderWatch::next(std::stop_token stop) {
  using Answered = core::Answer<Result<std::optional<Leader>>>;
  const auto answer = std::make_shared<Answered>();
  async_next(std::move(stop),
             [answer](Result<std::optional<Leader>> leader) { answer->set(std::move(leader)); });
  return answer->take();
}

}  // namespace holdfast
