// Request: one unary call, which may be attempted at one endpoint after another.

#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include <boost/intrusive/list.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "engines/etcd/driver/completion_loop.h"
#include "engines/etcd/driver/failure.h"
#include "holdfast/clock.h"

namespace holdfast::etcd {

/// Something under way at gRPC that can be cut short. In the list while it lives.
class Cancellable : public boost::intrusive::list_base_hook<
                        boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  virtual ~Cancellable() = default;
  virtual void cancel() = 0;
};
using Cancellables =
    boost::intrusive::list<Cancellable, boost::intrusive::constant_time_size<false>>;

class Request;

/// Who looks after a request once an attempt has ended.
class RequestKeeper {
 public:
  virtual ~RequestKeeper() = default;
  virtual void ended(std::unique_ptr<Request> request) = 0;
};

/// Thread safety: as Env.
class Request : public Completion, public Cancellable {
 public:
  /// Where an attempt goes, and as whom.
  struct Attempt {
    std::shared_ptr<grpc::Channel> channel;
    std::string endpoint;
    std::uint64_t visit{0};
    std::uint64_t token_number{0};
    TimePoint now;
  };

  Request(RequestKeeper& keeper, TimePoint answer_by) : keeper_{keeper}, answer_by_{answer_by} {}

  TimePoint answer_by() const { return answer_by_; }
  const Attempt& attempt() const { return attempt_; }
  const grpc::Status& status() const { return status_; }
  Failure failure() const { return failure_of(attempt_.endpoint, status_); }
  /// How often the token was not good.
  int token_failures{0};

  /// A fresh context for the next attempt, with its deadline.
  grpc::ClientContext& prepare(Attempt attempt);
  /// Begins the attempt that was prepared.
  static void begin(std::unique_ptr<Request> request, grpc::CompletionQueue& queue);

  /// The end: tells the caller. Precondition: status() is good.
  virtual void succeed() = 0;
  virtual void fail(const Error& error) = 0;

  void cancel() override {
    if (context_) context_->TryCancel();
  }
  void ended(std::unique_ptr<Completion> self, Way) override {
    self.release();
    keeper_.ended(std::unique_ptr<Request>{this});
  }

 protected:
  virtual void start(grpc::CompletionQueue& queue) = 0;
  /// Lets go of the last attempt.
  virtual void forget() = 0;

  // The call's memory belongs to the context, which goes last.
  std::optional<grpc::ClientContext> context_;
  grpc::Status status_;
  Attempt attempt_;

 private:
  RequestKeeper& keeper_;
  TimePoint answer_by_;
};

/// `OnEnd` is called as on_end(answer) or on_end(error), once.
template <class Wire, class Answer, class OnEnd>
class UnaryRequest final : public Request {
 public:
  UnaryRequest(
      RequestKeeper& keeper, TimePoint answer_by, const char* method, Wire wire, OnEnd on_end)
      : Request{keeper, answer_by},
        method_{method},
        wire_{std::move(wire)},
        on_end_{std::move(on_end)} {}

  void succeed() override { on_end_(answer_); }
  void fail(const Error& error) override { on_end_(error); }

 private:
  void start(grpc::CompletionQueue& queue) override {
    grpc::TemplatedGenericStub<Wire, Answer> stub{attempt_.channel};
    reader_ = stub.PrepareUnaryCall(&*context_, method_, wire_, &queue);
    reader_->StartCall();
    reader_->Finish(&answer_, &status_, static_cast<Completion*>(this));
  }

  void forget() override {
    reader_.reset();
    answer_.Clear();
  }

  const char* method_;
  Wire wire_;
  Answer answer_;
  OnEnd on_end_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<Answer>> reader_;
};

template <class Answer, class Wire, class OnEnd>
std::unique_ptr<Request> make_request(
    RequestKeeper& keeper, TimePoint answer_by, const char* method, Wire wire, OnEnd on_end) {
  return std::make_unique<UnaryRequest<Wire, Answer, OnEnd>>(
      keeper, answer_by, method, std::move(wire), std::move(on_end));
}

}  // namespace holdfast::etcd
