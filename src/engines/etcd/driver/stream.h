// Stream: one call that carries messages in both directions.
//
// Thread safety: as Env. Lifetime: gRPC's operations share in it; it ends by itself after cancel()
// or when the server ends it.

#pragma once

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include <deque>
#include <memory>
#include <utility>

#include "engines/etcd/driver/completion_loop.h"
#include "engines/etcd/driver/request.h"

namespace holdfast::etcd {

template <class Out, class In>
class Stream final : public Cancellable, public std::enable_shared_from_this<Stream<Out, In>> {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void on_message(In& message) = 0;
    /// Nothing comes any more, and what was written may not have been heard.
    virtual void on_end(const grpc::Status& status) = 0;
  };

  explicit Stream(Owner& owner) : owner_{&owner} {}

  grpc::ClientContext& context() { return context_; }

  /// Precondition: open() was not called before.
  void open(const std::shared_ptr<grpc::Channel>& channel,
            const char* method,
            grpc::CompletionQueue& queue) {
    grpc::TemplatedGenericStub<Out, In> stub{channel};
    call_ = stub.PrepareCall(&context_, method, &queue);
    call_->StartCall(next(&Stream::on_started));
  }

  /// In the order of the calls.
  void write(Out message) {
    unwritten_.push_back(std::move(message));
    if (is_started_ && unwritten_.size() == 1) write_first();
  }

  /// Tells the owner nothing from now on.
  void leave() {
    owner_ = nullptr;
    cancel();
  }

  void cancel() override { context_.TryCancel(); }

 private:
  using Way = Completion::Way;

  class Step final : public Completion {
   public:
    Step(std::shared_ptr<Stream> stream, void (Stream::*on_end)(Way))
        : stream_{std::move(stream)}, on_end_{on_end} {}
    void ended(std::unique_ptr<Completion>, Way way) override { (stream_.get()->*on_end_)(way); }

   private:
    std::shared_ptr<Stream> stream_;
    void (Stream::*on_end_)(Way);
  };

  Completion* next(void (Stream::*on_end)(Way)) {
    return new Step{this->shared_from_this(), on_end};
  }

  void on_started(Way way) {
    if (way == Way::badly) return finish();
    is_started_ = true;
    if (!unwritten_.empty()) write_first();
    call_->Read(&incoming_, next(&Stream::on_read));
  }

  void write_first() { call_->Write(unwritten_.front(), next(&Stream::on_written)); }

  // A write that failed is followed by a read that fails.
  void on_written(Way way) {
    if (way == Way::badly) return;
    unwritten_.pop_front();
    if (!unwritten_.empty()) write_first();
  }

  void on_read(Way way) {
    if (way == Way::badly) return finish();
    if (owner_ != nullptr) owner_->on_message(incoming_);
    incoming_.Clear();
    call_->Read(&incoming_, next(&Stream::on_read));
  }

  void finish() { call_->Finish(&status_, next(&Stream::on_finished)); }

  void on_finished(Way) {
    if (owner_ != nullptr) std::exchange(owner_, nullptr)->on_end(status_);
  }

  Owner* owner_;
  // The call's memory belongs to the context, which goes last.
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientAsyncReaderWriter<Out, In>> call_;
  bool is_started_{false};
  /// The first is being written.
  std::deque<Out> unwritten_;
  In incoming_;
  grpc::Status status_;
};

}  // namespace holdfast::etcd
