#include "engines/etcd/driver/request.h"

#include <grpc/support/time.h>

namespace holdfast::etcd {

grpc::ClientContext& Request::prepare(Attempt attempt) {
  const Duration left = answer_by_ - attempt.now;
  attempt_ = std::move(attempt);
  status_ = grpc::Status{};
  forget();
  context_.emplace();
  // The clock of deadlines stands still while the machine sleeps; Env's does not, and decides where
  // it matters.
  context_->set_deadline(
      gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_nanos(left.count(), GPR_TIMESPAN)));
  return *context_;
}

void Request::begin(std::unique_ptr<Request> request, grpc::CompletionQueue& queue) {
  // From here on the queue has it, and hands it back to ended().
  request.release()->start(queue);
}

}  // namespace holdfast::etcd
