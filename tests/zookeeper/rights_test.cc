// Who may do what, and from which node on.

#include <gmock/gmock.h>

#include "tests/zookeeper/driver_bed.h"
#include "tests/zookeeper/shared_server.h"

namespace holdfast::zookeeper {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const SessionAsk kAsk{.timeout = Millis{10'000}};

ZookeeperTarget target_as(const std::string& user, const std::string& password) {
  ZookeeperTarget target = target_of(shared_server());
  target.user = user;
  target.password = password;
  return target;
}

TEST(ZookeeperRightsTest, NodesOfTheirCreatorAreForNobodyElse) {
  ZookeeperTarget owner_target = target_as("app", "word");
  owner_target.acl = Acl::creator;
  DriverBed owner_bed{owner_target};
  BedSession owner{owner_bed, kAsk};
  EXPECT_EQ(owner.ask(Create{"/rights", "mine"})->verdict, Verdict::done);
  EXPECT_EQ(owner.ask(Multi{{Create{"/rights/a"}, Write{"/rights", "still"}}})->verdict,
            Verdict::done);

  for (const ZookeeperTarget& stranger :
       {target_of(shared_server()), target_as("app", "wrong"), target_as("other", "word")}) {
    DriverBed bed{stranger};
    BedSession session{bed, kAsk};
    for (const Request& request : {Request{Read{"/rights"}},
                                   Request{List{"/rights"}},
                                   Request{Write{"/rights", "x"}},
                                   Request{Create{"/rights/b"}},
                                   Request{Erase{"/rights/a"}}}) {
      const Error error = error_of(session.ask(request));
      EXPECT_EQ(error.code, Errc::denied);
      EXPECT_THAT(error.message, HasSubstr(shared_server().node(0).endpoint()));
      EXPECT_THAT(error.message, HasSubstr("/rights"));
      EXPECT_THAT(error.message, testing::Not(HasSubstr("word")));
    }
    const auto several = session.ask(Multi{{Check{"/"}, Write{"/rights", "x"}}});
    EXPECT_EQ(error_of(several).code, Errc::denied);
  }
  DriverBed same_bed{target_as("app", "word")};
  BedSession same{same_bed, kAsk};
  EXPECT_EQ(same.ask(Read{"/rights"})->data, "still");
  DriverBed super_bed{target_as("super", "secret")};
  BedSession super{super_bed, kAsk};
  EXPECT_EQ(super.ask(Read{"/rights"})->data, "still");
}

TEST(ZookeeperRightsTest, WhoIsNotKnownCannotOwnNodes) {
  ZookeeperTarget target = target_of(shared_server());
  target.acl = Acl::creator;
  DriverBed bed{target};
  BedSession session{bed, kAsk};
  EXPECT_EQ(error_of(session.ask(Create{"/nobody"})).code, Errc::denied);
}

TEST(ZookeeperRightsTest, PathsAreSeenFromTheChroot) {
  DriverBed root_bed{target_of(shared_server())};
  BedSession root{root_bed, kAsk};
  EXPECT_EQ(root.ask(Multi{{Create{"/apps"}, Create{"/apps/mine"}}})->verdict, Verdict::done);
  ZookeeperTarget target = target_of(shared_server());
  target.chroot = "/apps/mine";
  DriverBed bed{target};
  BedSession session{bed, kAsk};
  session.next(SessionEvent::Kind::connected);
  EXPECT_EQ(session.ask(Create{"/a-", "x", Create::Kind::ephemeral_sequential})->path,
            "/a-0000000000");
  EXPECT_EQ(session.ask(Multi{{Create{"/b"}}})->steps[0].path, "/b");
  EXPECT_THAT(session.ask(List{"/"})->children, testing::UnorderedElementsAre("a-0000000000", "b"));
  EXPECT_EQ(session.ask(Sync{"/"})->verdict, Verdict::done);
  EXPECT_TRUE(session.ask(Read{"/b", Watching::yes}));
  EXPECT_TRUE(session.ask(List{"/", Watching::yes}));
  EXPECT_EQ(root.ask(Write{"/apps/mine/b", "y"})->verdict, Verdict::done);
  EXPECT_EQ(session.next(SessionEvent::Kind::changed).path, "/b");
  EXPECT_EQ(root.ask(Create{"/apps/mine/c"})->verdict, Verdict::done);
  EXPECT_EQ(session.next(SessionEvent::Kind::changed).path, "/");
}

TEST(ZookeeperRightsTest, AChrootThatIsNotThereIsNamedAtOnce) {
  ZookeeperTarget target = target_of(shared_server());
  target.chroot = "/missing/one";
  DriverBed bed{target};
  BedSession session{bed, kAsk};
  const Error error = error_of(session.ask(Create{"/a"}));
  EXPECT_EQ(error.code, Errc::not_found);
  EXPECT_THAT(error.message, HasSubstr("/missing/one"));
  EXPECT_THAT(error.message, HasSubstr(shared_server().node(0).endpoint()));
  EXPECT_EQ(session.next(SessionEvent::Kind::refused).error.code, Errc::not_found);
  EXPECT_EQ(error_of(session.ask(Create{"/a"})).code, Errc::lost);
}

}  // namespace
}  // namespace holdfast::zookeeper
