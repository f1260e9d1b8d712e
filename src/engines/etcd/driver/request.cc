#include "engines/etcd/driver/request.h"

namespace holdfast::etcd {

grpc::ClientContext& Request::prepare(Attempt attempt) {
  const Duration left = answer_by_ - attempt.now;
  attempt_ = std::move(attempt);
  status_ = grpc::Status{};
  forget();
  context_.emplace();
  context_->set_deadline(std::chrono::system_clock::now() +
                         std::chrono::ceil<std::chrono::system_clock::duration>(left));
  return *context_;
}

void Request::begin(std::unique_ptr<Request> request, grpc::CompletionQueue& queue) {
  // From here on the queue has it, and hands it back to ended().
  request.release()->start(queue);
}

}  // namespace holdfast::etcd
