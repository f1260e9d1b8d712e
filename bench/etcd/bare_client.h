// What a lock cannot be faster than: the transactions that take it and give it up, sent over a
// channel like the driver's by a client that does nothing else.

#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include <cstdint>
#include <memory>
#include <string>

#include "engines/etcd/driver/wire.h"
#include "holdfast/result.h"

namespace holdfast::bench {

/// A transaction, ready to be sent again and again.
using BareTxn = etcd::wire::TxnRequest;

/// As the engine takes the lock of that name and gives it up.
struct BarePair {
  BareTxn take;
  BareTxn give_up;
};

/// Blocks for each answer, as the stub that gRPC generates does. Thread safety: none. Asserts that
/// the server answers, and without errors.
class BareEtcd {
 public:
  /// unavailable: nobody answers there.
  static Result<BareEtcd> connect(std::uint16_t port);

  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

  BarePair pair_for(const std::string& name) const;
  static BareTxn put(const std::string& key);
  static BareTxn erase(const std::string& key);

  /// Sends it and waits for the answer.
  etcd::wire::TxnResponse round_trip(const BareTxn& txn);

  /// How many contend for the lock of that name.
  std::int64_t contenders(const std::string& name);

 private:
  BareEtcd(std::shared_ptr<grpc::Channel> channel, std::int64_t lease)
      : channel_{std::move(channel)}, lease_{lease} {}

  std::shared_ptr<grpc::Channel> channel_;
  std::int64_t lease_;
};

/// Tells when a key is erased. Thread safety and assertions as BareEtcd.
class BareWatch {
 public:
  /// Watches from the return on.
  BareWatch(const std::shared_ptr<grpc::Channel>& channel, const std::string& key);
  ~BareWatch();
  BareWatch(const BareWatch&) = delete;
  BareWatch& operator=(const BareWatch&) = delete;

  /// Blocks until it is erased once more.
  void wait();

 private:
  using Request = etcd::wire::WatchRequest;
  using Response = etcd::wire::WatchResponse;

  void next_step();

  grpc::CompletionQueue queue_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientAsyncReaderWriter<Request, Response>> call_;
  Response news_;
};

}  // namespace holdfast::bench
