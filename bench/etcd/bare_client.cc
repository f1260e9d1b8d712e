#include "bench/etcd/bare_client.h"

#include <grpc/support/time.h>
#include <grpcpp/impl/codegen/client_unary_call.h>

#include <chrono>

#include "base/assert.h"
#include "base/secret.h"
#include "engines/etcd/driver/channel.h"
#include "engines/etcd/lock_txns.h"

namespace holdfast::bench {
namespace {

namespace wire = etcd::wire;

constexpr std::int64_t kLeaseSeconds = 600;

template <class Request, class Answer>
grpc::Status call(const std::shared_ptr<grpc::Channel>& channel,
                  const char* name,
                  grpc::ClientContext& context,
                  const Request& request,
                  Answer& answer) {
  const grpc::internal::RpcMethod method{name, grpc::internal::RpcMethod::NORMAL_RPC, channel};
  return grpc::internal::BlockingUnaryCall(channel.get(), method, &context, request, &answer);
}

etcd::Keys keys() { return etcd::Keys{"hf/"}; }

}  // namespace

Result<BareEtcd> BareEtcd::connect(std::uint16_t port) {
  const etcd::EtcdTarget target{.endpoints = {{.port = port}}};
  const auto credentials = etcd::make_credentials(target);
  if (!credentials) return Unexpected{credentials.error()};
  const auto channel =
      etcd::make_channel(target.endpoints.front(), target, *credentials, std::chrono::seconds{10});
  wire::LeaseGrantRequest request;
  request.set_ttl(kLeaseSeconds);
  wire::LeaseGrantResponse answer;
  grpc::ClientContext context;
  context.set_deadline(
      gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_seconds(30, GPR_TIMESPAN)));
  context.set_wait_for_ready(true);
  if (!call(channel, etcd::kGrantMethod, context, request, answer).ok()) {
    return Unexpected{Error{Errc::unavailable, "no etcd at port " + std::to_string(port)}};
  }
  return BareEtcd{channel, answer.id()};
}

BarePair BareEtcd::pair_for(const std::string& name) const {
  etcd::Place place{.name = LockName{name}, .owner_fp = fresh_owner().fingerprint()};
  place.lease = {lease_};
  place.key = keys().contender(place.name, place.lease, place.owner_fp);
  // As long as those of the engine.
  const etcd::Entrant entrant{.note = std::string(64, 'n')};
  return {.take = etcd::to_wire(etcd::enter_txn(keys(), place, entrant)),
          .give_up = etcd::to_wire(etcd::leave_txn(keys(), place))};
}

BareTxn BareEtcd::put(const std::string& key) {
  return etcd::to_wire({.then = {etcd::Put{.key = key}}});
}

BareTxn BareEtcd::erase(const std::string& key) {
  return etcd::to_wire({.then = {etcd::Erase{.keys = {.key = key}}}});
}

wire::TxnResponse BareEtcd::round_trip(const BareTxn& txn) {
  grpc::ClientContext context;
  wire::TxnResponse answer;
  const grpc::Status status = call(channel_, etcd::kTxnMethod, context, txn, answer);
  HOLDFAST_ASSERT(status.ok() && answer.succeeded());
  return answer;
}

std::int64_t BareEtcd::contenders(const std::string& name) {
  const etcd::Range count{.keys = keys().contenders(LockName{name}),
                          .part = etcd::Range::Part::count_only};
  auto answer = round_trip(etcd::to_wire({.then = {count}}));
  return etcd::from_wire(answer).answers.front().count;
}

BareWatch::BareWatch(const std::shared_ptr<grpc::Channel>& channel, const std::string& key) {
  grpc::TemplatedGenericStub<Request, Response> stub{channel};
  call_ = stub.PrepareCall(&context_, etcd::kWatchMethod, &queue_);
  call_->StartCall(this);
  next_step();
  Request request;
  *request.mutable_create_request() =
      etcd::to_wire({.keys = {.key = key}, .only = etcd::Watch::Only::erasures});
  call_->Write(request, this);
  next_step();
  call_->Read(&news_, this);
  next_step();
  HOLDFAST_ASSERT(news_.created());
}

BareWatch::~BareWatch() {
  context_.TryCancel();
  grpc::Status status;
  call_->Finish(&status, this);
  queue_.Shutdown();
  void* tag = nullptr;
  for (bool ok = false; queue_.Next(&tag, &ok);) {
  }
}

void BareWatch::next_step() {
  void* tag = nullptr;
  bool ok = false;
  HOLDFAST_ASSERT(queue_.Next(&tag, &ok) && ok);
}

void BareWatch::wait() {
  do {
    news_.Clear();
    call_->Read(&news_, this);
    next_step();
  } while (news_.events().empty());
}

}  // namespace holdfast::bench
