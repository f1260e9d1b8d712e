#include "engines/etcd/driver/failure.h"

#include <gtest/gtest.h>

namespace holdfast::etcd {
namespace {

TEST(EtcdFailureTest, NamesEndpointAndCause) {
  const Error error = error_at("h:2379", Errc::denied, "permission denied");
  EXPECT_EQ(error.message, "etcd h:2379: permission denied");
  EXPECT_EQ(error.code, Errc::denied);
}

}  // namespace
}  // namespace holdfast::etcd
