#include "engines/etcd/driver/failure.h"

#include <grpcpp/support/status.h>
#include <gtest/gtest.h>

namespace holdfast::etcd {
namespace {

using Fate = Failure::Fate;

struct Example {
  grpc::StatusCode code;
  const char* text;
  Fate fate;
  Errc error;
  Failure::Endpoint endpoint;
};

constexpr auto kGood = Failure::Endpoint::good;
constexpr auto kDoubtful = Failure::Endpoint::doubtful;

constexpr const char* kRefused =
    "failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:1: Failed to connect "
    "to remote host: Connection refused";

void expect_meaning(const Example& example) {
  const Failure failure = failure_of("h:2379", grpc::Status{example.code, example.text});
  EXPECT_EQ(failure.fate, example.fate) << example.text;
  EXPECT_EQ(failure.error.code, example.error) << example.text;
  EXPECT_EQ(failure.endpoint, example.endpoint) << example.text;
  EXPECT_TRUE(failure.error.message.starts_with("etcd h:2379: ")) << failure.error.message;
}

TEST(EtcdFailureTest, WhatSurelyDidNotRunMayRunElsewhere) {
  const Example examples[] = {
      {grpc::UNAVAILABLE, "etcdserver: no leader", Fate::not_run, Errc::unavailable, kDoubtful},
      {grpc::UNKNOWN, "raft proposal dropped", Fate::not_run, Errc::unavailable, kDoubtful},
      {grpc::UNAVAILABLE, kRefused, Fate::not_run, Errc::unavailable, kDoubtful},
      {grpc::UNAVAILABLE,
       "DNS resolution failed for h:1",
       Fate::not_run,
       Errc::unavailable,
       kDoubtful},
      {grpc::UNIMPLEMENTED, "unknown service", Fate::not_here, Errc::corrupt, kDoubtful},
  };
  for (const Example& example : examples) expect_meaning(example);
}

TEST(EtcdFailureTest, WhatMayHaveRunIsUnknown) {
  const Example examples[] = {
      {grpc::UNAVAILABLE,
       "etcdserver: leader changed",
       Fate::unknown,
       Errc::unknown_outcome,
       kGood},
      {grpc::UNAVAILABLE,
       "etcdserver: request timed out, possibly due to connection lost",
       Fate::unknown,
       Errc::unknown_outcome,
       kDoubtful},
      {grpc::UNAVAILABLE, "Socket closed", Fate::unknown, Errc::unknown_outcome, kDoubtful},
      {grpc::UNAVAILABLE, "", Fate::unknown, Errc::unknown_outcome, kDoubtful},
      {grpc::UNKNOWN, "anything", Fate::unknown, Errc::unknown_outcome, kDoubtful},
      {grpc::INTERNAL, "Received RST_STREAM", Fate::unknown, Errc::unknown_outcome, kDoubtful},
      {grpc::CANCELLED, "", Fate::unknown, Errc::unknown_outcome, kDoubtful},
      {grpc::DEADLINE_EXCEEDED, "", Fate::unknown, Errc::unknown_outcome, kDoubtful},
  };
  for (const Example& example : examples) expect_meaning(example);
}

TEST(EtcdFailureTest, ATokenThatIsNotGoodAnyMoreIsToldFromARefusal) {
  const Example examples[] = {
      {grpc::UNAUTHENTICATED, "etcdserver: invalid auth token", Fate::token, Errc::denied, kGood},
      {grpc::INVALID_ARGUMENT,
       "etcdserver: revision of auth store is old",
       Fate::token,
       Errc::denied,
       kGood},
      {grpc::INVALID_ARGUMENT,
       "etcdserver: authentication failed, invalid user ID or password",
       Fate::refused,
       Errc::denied,
       kGood},
      {grpc::INVALID_ARGUMENT,
       "etcdserver: user name is empty",
       Fate::refused,
       Errc::denied,
       kGood},
      {grpc::PERMISSION_DENIED,
       "etcdserver: permission denied",
       Fate::refused,
       Errc::denied,
       kGood},
  };
  for (const Example& example : examples) expect_meaning(example);
}

TEST(EtcdFailureTest, RefusalsHaveTheirCodes) {
  const Example examples[] = {
      {grpc::NOT_FOUND, "etcdserver: requested lease not found", Fate::refused, Errc::lost, kGood},
      {grpc::RESOURCE_EXHAUSTED,
       "etcdserver: mvcc: database space exceeded",
       Fate::refused,
       Errc::no_space,
       kGood},
      {grpc::RESOURCE_EXHAUSTED,
       "etcdserver: too many requests",
       Fate::refused,
       Errc::unavailable,
       kGood},
      {grpc::RESOURCE_EXHAUSTED,
       "grpc: received message larger than max (2 vs. 1)",
       Fate::refused,
       Errc::invalid_argument,
       kGood},
      {grpc::INVALID_ARGUMENT,
       "etcdserver: request is too large",
       Fate::refused,
       Errc::invalid_argument,
       kGood},
      {grpc::DATA_LOSS, "etcdserver: corrupt cluster", Fate::refused, Errc::corrupt, kGood},
      {grpc::FAILED_PRECONDITION, "etcdserver: other", Fate::refused, Errc::internal, kGood},
  };
  for (const Example& example : examples) expect_meaning(example);
}

TEST(EtcdFailureTest, CausesAreCutOutOfWhatGrpcSays) {
  const auto message = [](const char* text) {
    return failure_of("h:1", grpc::Status{grpc::UNAVAILABLE, text}).error.message;
  };
  EXPECT_EQ(message(kRefused), "etcd h:1: connection refused");
  EXPECT_EQ(message("etcdserver: no leader"), "etcd h:1: no leader");
  EXPECT_EQ(message("failed to connect to all addresses; last error: INTERNAL: ipv4:127.0.0.1:1: "
                    "Trying to connect an http1.x server"),
            "etcd h:1: is not etcd: it speaks HTTP/1");
}

}  // namespace
}  // namespace holdfast::etcd
