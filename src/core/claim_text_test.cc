#include "core/claim_text.h"

#include <gtest/gtest.h>

namespace holdfast::core {
namespace {

TEST(ClaimTextTest, ClaimsAreReadAsTheyAreWritten) {
  for (const Claim claim :
       {Claim{}, Claim{.mode = Mode::shared}, Claim{.mode = Mode::permit, .permits = 20}}) {
    const Claim read = read_claim(claim_text(claim));
    EXPECT_EQ(read.mode, claim.mode);
    EXPECT_EQ(read.permits, claim.permits);
  }
}

}  // namespace
}  // namespace holdfast::core
