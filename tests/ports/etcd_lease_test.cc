// The contract of EtcdPort: leases.

#include "tests/ports/etcd_bed.h"

namespace holdfast::ports {
namespace {

using namespace etcd;

TEST_P(EtcdPortTest, GrantsWhatWasAskedFor) {
  const LeaseId lease = fresh_lease();
  const LeaseAnswer answer = grant(lease, Seconds{60});
  EXPECT_EQ(answer.ttl, Seconds{60});
  EXPECT_NE(answer.header.revision, 0);
  revoke(lease);
}

TEST_P(EtcdPortTest, RaisesATtlThatIsTooShort) {
  const LeaseId lease = fresh_lease();
  EXPECT_EQ(grant(lease, Seconds{1}).ttl, Seconds{2});
  EXPECT_EQ(keep_alive(lease).ttl, Seconds{2});
  revoke(lease);
}

TEST_P(EtcdPortTest, DoesNotTouchALeaseThatIsThere) {
  const LeaseId lease = fresh_lease();
  grant(lease, Seconds{60});
  EXPECT_EQ(grant(lease, Seconds{10}).ttl, Seconds{0});
  EXPECT_EQ(keep_alive(lease).ttl, Seconds{60});
  revoke(lease);
}

TEST_P(EtcdPortTest, RevokesALeaseWithItsKeys) {
  const LeaseId lease = fresh_lease();
  grant(lease, Seconds{60});
  put("a", "1", lease);
  put("b", "2", lease);
  put("c", "3");
  EXPECT_EQ(get("a")->lease, lease);
  const LeaseAnswer revoked = revoke(lease);
  EXPECT_GE(revoked.ttl, Seconds{1});
  EXPECT_FALSE(get("a"));
  EXPECT_FALSE(get("b"));
  EXPECT_TRUE(get("c"));
}

TEST_P(EtcdPortTest, AKeyBelongsToItsLastLease) {
  const LeaseId first = fresh_lease();
  const LeaseId second = fresh_lease();
  grant(first, Seconds{60});
  grant(second, Seconds{60});
  put("a", "1", first);
  put("a", "2", second);
  put("b", "1", first);
  put("b", "2");
  revoke(first);
  EXPECT_TRUE(get("a"));
  EXPECT_TRUE(get("b"));
  revoke(second);
  EXPECT_FALSE(get("a"));
}

TEST_P(EtcdPortTest, ALeaseThatIsGoneHasNoTime) {
  const LeaseId lease = fresh_lease();
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(keep_alive(lease).ttl, Seconds{0});
    EXPECT_EQ(look_up(lease).ttl, Seconds{0});
    EXPECT_EQ(revoke(lease).ttl, Seconds{0});
    if (round > 0) break;
    grant(lease, Seconds{60});
    EXPECT_GE(revoke(lease).ttl, Seconds{1});
  }
}

TEST_P(EtcdPortTest, LooksUpHowMuchIsLeft) {
  const LeaseId lease = fresh_lease();
  grant(lease, Seconds{60});
  const LeaseAnswer left = look_up(lease);
  EXPECT_GE(left.ttl, Seconds{1});
  EXPECT_LE(left.ttl, Seconds{60});
  revoke(lease);
}

TEST_P(EtcdPortTest, PutsNothingUnderALeaseThatIsGone) {
  const LeaseId lease = fresh_lease();
  const auto answer = commit({.then = {Put{key("a"), "1"}, Put{key("b"), "2", lease}}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Errc::lost) << answer.error().message;
  EXPECT_FALSE(get("a"));
  EXPECT_FALSE(get("b"));
}

TEST_P(EtcdPortTest, AsksForTheLeasesOfWhatRunsAlone) {
  EXPECT_TRUE(
      commit({.then = {Put{key("a"), "1"}}, .otherwise = {Put{key("a"), "2", fresh_lease()}}}));
}

TEST_P(EtcdPortTest, ALeaseRunsOutWithItsKeysUnlessItIsKept) {
  const LeaseId kept = fresh_lease();
  const LeaseId left_alone = fresh_lease();
  grant(kept, Seconds{2});
  grant(left_alone, Seconds{2});
  put("kept", "1", kept);
  const Revision before = put("left alone", "1", left_alone);
  // Each question renews the one and not the other, and takes longer than nothing.
  TimePoint asked = TimePoint::min();
  const auto is_gone = [&] {
    bed_->go_on_until([&] { return bed_->env().now() >= asked + std::chrono::milliseconds{100}; });
    bed_->on_env([&] { asked = bed_->env().now(); });
    EXPECT_EQ(keep_alive(kept).ttl, Seconds{2});
    return !get("left alone");
  };
  bool gone = false;
  for (int i = 0; i < 300 && !gone; ++i) gone = is_gone();
  EXPECT_TRUE(gone);
  EXPECT_TRUE(get("kept"));
  EXPECT_EQ(look_up(left_alone).ttl, Seconds{0});
  EXPECT_EQ(keep_alive(left_alone).ttl, Seconds{0});
  EXPECT_GT(put("after", "1"), before + 1) << "the end of a lease is a change";
  revoke(kept);
}

TEST_P(EtcdPortTest, KeepsManyLeasesAtOnce) {
  constexpr int kLeases = 20;
  std::vector<LeaseId> leases;
  for (int i = 0; i < kLeases; ++i) {
    leases.push_back(fresh_lease());
    grant(leases.back(), Seconds{100 + i});
  }
  // One of them twice: each call has an answer of its own.
  leases.push_back(leases.front());
  const auto answers = std::make_shared<std::vector<Seconds>>(leases.size());
  const auto left = std::make_shared<std::size_t>(leases.size());
  bed_->on_env([&] {
    for (std::size_t i = 0; i < leases.size(); ++i) {
      const auto on_answer = [answers, left, i](const Result<LeaseAnswer>& answer) {
        (*answers)[i] = answer ? answer->ttl : Seconds{-1};
        --*left;
      };
      bed_->port().keep_alive(leases[i], bed_->env().now() + kEtcdBound, on_answer);
    }
  });
  ASSERT_TRUE(bed_->go_on_until([&] { return *left == 0; }));
  for (int i = 0; i < kLeases; ++i) EXPECT_EQ((*answers)[i], Seconds{100 + i});
  EXPECT_EQ(answers->back(), Seconds{100});
  for (const LeaseId lease : leases) revoke(lease);
}

}  // namespace
}  // namespace holdfast::ports
