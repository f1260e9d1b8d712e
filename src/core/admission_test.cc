#include "core/admission.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace rc {

// Few modes and few permits, so that claims often meet their like.
template <>
struct Arbitrary<holdfast::core::Claim> {
  static Gen<holdfast::core::Claim> arbitrary() {
    using holdfast::Mode;
    using holdfast::core::Claim;
    return gen::element(Claim{Mode::exclusive, 0},
                        Claim{Mode::shared, 0},
                        Claim{Mode::permit, 1},
                        Claim{Mode::permit, 2},
                        Claim{Mode::permit, 3});
  }
};

}  // namespace rc

namespace holdfast::core {

void showValue(const Claim& claim, std::ostream& out) {
  out << to_string(claim.mode) << '/' << claim.permits;
}

namespace {

using Claims = std::vector<Claim>;

constexpr Claim kWriter{Mode::exclusive, 0};
constexpr Claim kReader{Mode::shared, 0};
constexpr Claim permit(std::uint32_t count) { return {Mode::permit, count}; }

TEST(AdmissionTest, TheFirstIsAlwaysGranted) {
  for (const Claim& claim : {kWriter, kReader, permit(1)}) {
    EXPECT_EQ(admit({}, claim), Admission::granted);
  }
}

TEST(AdmissionTest, ReadersHoldTogetherUntilAWriterWaits) {
  EXPECT_EQ(admit(Claims{kReader, kReader}, kReader), Admission::granted);
  EXPECT_EQ(admit(Claims{kReader, kWriter}, kReader), Admission::must_wait);
  EXPECT_EQ(admit(Claims{kReader}, kWriter), Admission::must_wait);
}

TEST(AdmissionTest, PermitsRunOut) {
  EXPECT_EQ(admit(Claims{permit(2)}, permit(2)), Admission::granted);
  EXPECT_EQ(admit(Claims{permit(2), permit(2)}, permit(2)), Admission::must_wait);
}

TEST(AdmissionTest, ADifferentNumberOfPermitsIsRefusedEvenBehindAWriter) {
  EXPECT_EQ(admit(Claims{permit(2)}, permit(3)), Admission::permits_differ);
  EXPECT_EQ(admit(Claims{permit(2), kWriter}, permit(3)), Admission::permits_differ);
  EXPECT_EQ(admit(Claims{kWriter}, permit(3)), Admission::must_wait);
}

// The rule as DESIGN words it, one contender at a time.
bool compatible(const Claim& a, const Claim& b) {
  return (a.mode == Mode::shared && b.mode == Mode::shared) ||
         (a.mode == Mode::permit && b.mode == Mode::permit && a.permits == b.permits);
}

Admission naive(const Claims& ahead, const Claim& claim) {
  bool blocked = false;
  for (const Claim& other : ahead) {
    const bool both_permits = other.mode == Mode::permit && claim.mode == Mode::permit;
    if (both_permits && other.permits != claim.permits) return Admission::permits_differ;
    if (!compatible(other, claim)) blocked = true;
  }
  if (claim.mode == Mode::permit && ahead.size() >= claim.permits) blocked = true;
  return blocked ? Admission::must_wait : Admission::granted;
}

RC_GTEST_PROP(AdmissionProperty,
              AgreesWithTheNaiveRule,
              (const Claims& ahead, const Claim& claim)) {
  RC_ASSERT(admit(ahead, claim) == naive(ahead, claim));
}

// Lets a line of claims form, each granted or waiting by the rule, and looks at who holds together.
RC_GTEST_PROP(AdmissionProperty, HoldersAreAlwaysCompatible, (const Claims& arrivals)) {
  Claims line;
  Claims holders;
  for (const Claim& claim : arrivals) {
    const Admission admission = admit(line, claim);
    if (admission == Admission::permits_differ) continue;
    line.push_back(claim);
    if (admission == Admission::granted) holders.push_back(claim);
  }
  for (std::size_t i = 0; i < holders.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) RC_ASSERT(compatible(holders[i], holders[j]));
  }
  const bool permits = !holders.empty() && holders.front().mode == Mode::permit;
  if (permits) RC_ASSERT(holders.size() <= holders.front().permits);
}

// Whoever leaves, nobody who held loses the right to.
RC_GTEST_PROP(AdmissionProperty, AGrantStandsWhenSomebodyAheadLeaves, (const Claim& claim)) {
  auto ahead = *rc::gen::nonEmpty(rc::gen::arbitrary<Claims>());
  const auto leaver = *rc::gen::inRange<std::size_t>(0, ahead.size());
  const bool granted = admit(ahead, claim) == Admission::granted;
  ahead.erase(ahead.begin() + static_cast<std::ptrdiff_t>(leaver));
  if (granted) RC_ASSERT(admit(ahead, claim) == Admission::granted);
}

}  // namespace
}  // namespace holdfast::core
