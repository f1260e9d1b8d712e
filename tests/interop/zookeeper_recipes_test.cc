// Holdfast and the lock recipes of ZooKeeper's usual clients exclude each other, both ways:
// uncontended, queued, and when either side is killed.

#include <gtest/gtest.h>

#include <future>
#include <string>

#include "holdfast/client.h"
#include "tests/contract/patience.h"
#include "tests/interop/foreign_client.h"
#include "tests/interop/our_holder.h"
#include "tests/zookeeper/zookeeper_ensemble.h"

namespace holdfast::interop {
namespace {

using contract::eventually;
using namespace std::chrono_literals;

// Far longer than anything here takes; a test that needs it fails.
constexpr const char* kPatience = "60000";
/// Somebody who is to get nothing has had the chance.
constexpr const char* kGlance = "300";
constexpr const char* kSessionTimeout = "60000";
constexpr const char* kBriefSession = "2000";

struct Recipes {
  std::string name;
  /// Of our URL.
  std::string parameters;
  /// Without its arguments.
  std::vector<std::string> command;
  /// Of our URL, so that read/write recipes and we exclude each other.
  std::string read_write{};
  /// Which of theirs waits for readers.
  std::string exclusive{"lock"};
};

void PrintTo(const Recipes& recipes, std::ostream* out) { *out << recipes.name; }

Recipes kazoo() {
  return {.name = "kazoo",
          .parameters = "?layout=kazoo",
          .command = {HOLDFAST_PYTHON, HOLDFAST_RECIPES "/kazoo_lock.py"},
          .read_write = "?layout=kazoo",
          .exclusive = "write"};
}

Recipes curator() {
  const std::string jars = "/usr/share/java/";
  std::string path = HOLDFAST_CURATOR_JAR ":" HOLDFAST_ZOOKEEPER_JAR;
  for (const char* const jar : {"curator-client",
                                "curator-framework",
                                "zookeeper-jute",
                                "guava",
                                "slf4j-api",
                                "slf4j-nop",
                                "failureaccess",
                                "netty-all"}) {
    path += ':' + jars + jar + ".jar";
  }
  return {.name = "curator",
          .parameters = "",
          .command = {HOLDFAST_JAVA,
                      "-Xmx128m",
                      "-XX:+UseSerialGC",
                      "-XX:TieredStopAtLevel=1",
                      "-cp",
                      path,
                      HOLDFAST_RECIPES "/CuratorLock.java"},
          .read_write = "?layout=curator-rw"};
}

/// One for all tests: each has its own names.
zookeeper::ZookeeperEnsemble& ensemble() {
  static zookeeper::ZookeeperEnsemble only;
  return only;
}

std::unique_ptr<ForeignClient> start(const Recipes& recipes, const char* session_timeout) {
  std::vector<std::string> command = recipes.command;
  command.push_back(ensemble().endpoints());
  command.emplace_back(session_timeout);
  return std::make_unique<ForeignClient>(command);
}

std::string url_with(const std::string& parameters) {
  return "zookeeper://" + ensemble().endpoints() + parameters;
}

Client connect(const std::string& parameters) {
  auto client = Client::connect(url_with(parameters));
  if (!client) throw std::runtime_error{client.error().message};
  return *std::move(client);
}

class ZookeeperRecipesTest : public testing::TestWithParam<Recipes> {
 protected:
  /// One process of theirs for all tests of its kind.
  static ForeignClient& theirs() {
    static std::map<std::string, std::unique_ptr<ForeignClient>> clients;
    auto& client = clients[GetParam().name];
    if (!client) client = start(GetParam(), kSessionTimeout);
    return *client;
  }

  std::future<Result<Lease, AcquireError>> wait_for(const std::string& name,
                                                    AcquireOptions options = {}) {
    return std::async(std::launch::async,
                      [this, name, options] { return client_.acquire(name, options); });
  }

  void until_waiting(const std::string& name, std::size_t count) {
    EXPECT_TRUE(eventually([&] { return client_.inspect(name)->waiters.size() == count; }));
  }

  /// A name of this test and these recipes alone.
  static std::string own(const std::string& name) { return name + '-' + GetParam().name; }
  static std::string path(const std::string& name) { return "/hf/" + name; }

  static std::string begin(const std::string& name, const std::string& recipe = "lock") {
    return theirs().ask("begin " + path(name) + ' ' + recipe);
  }
  static std::string held(const std::string& name, const char* patience = kPatience) {
    return theirs().ask("held " + path(name) + ' ' + patience);
  }
  static std::string release(const std::string& name) {
    return theirs().ask("release " + path(name));
  }

  Client client_ = connect(GetParam().parameters);
};

INSTANTIATE_TEST_SUITE_P(,
                         ZookeeperRecipesTest,
                         testing::Values(kazoo(), curator()),
                         [](const auto& recipes) { return recipes.param.name; });

TEST_P(ZookeeperRecipesTest, TheirLockKeepsUsOutUntilTheyReleaseIt) {
  const std::string name = own("theirs");
  begin(name);
  ASSERT_EQ(held(name), "held");
  const auto refused = client_.try_acquire(name);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::busy);
  ASSERT_TRUE(refused.error().holder);
  EXPECT_TRUE(refused.error().holder->foreign);
  EXPECT_EQ(client_.try_acquire(name, {.mode = Mode::shared}).error().code, Errc::busy);
  EXPECT_EQ(client_.try_acquire(name, {.mode = Mode::permit, .permits = 2}).error().code,
            Errc::busy);
  auto waiting = wait_for(name);
  until_waiting(name, 1);
  EXPECT_EQ(release(name), "released");
  const auto lease = waiting.get();
  ASSERT_TRUE(lease) << lease.error().message;
}

TEST_P(ZookeeperRecipesTest, OurLockKeepsThemOutUntilWeReleaseIt) {
  const std::string name = own("ours");
  auto lease = client_.acquire(name);
  ASSERT_TRUE(lease) << lease.error().message;
  EXPECT_EQ(theirs().ask("try " + path(name)), "busy");
  begin(name);
  until_waiting(name, 1);
  EXPECT_TRUE(client_.inspect(name)->waiters.at(0).foreign);
  EXPECT_EQ(held(name, kGlance), "waiting");
  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  EXPECT_EQ(held(name), "held");
  release(name);
}

TEST_P(ZookeeperRecipesTest, BothStandInOneQueue) {
  const std::string name = own("queue");
  auto lease = client_.acquire(name);
  ASSERT_TRUE(lease);
  begin(name);
  until_waiting(name, 1);
  Client another = connect(GetParam().parameters);
  auto last = std::async(std::launch::async, [&] { return another.acquire(name); });
  until_waiting(name, 2);
  const Token first = lease->token();
  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  EXPECT_EQ(held(name), "held");
  EXPECT_EQ(last.wait_for(300ms), std::future_status::timeout);
  release(name);
  const auto next = last.get();
  ASSERT_TRUE(next);
  EXPECT_GT(next->token(), first);
}

// Of one process that is killed: a lock it held, and a place in a queue.
TEST_P(ZookeeperRecipesTest, TheirsThatWereKilledAreHandedOnWhenTheirSessionEnds) {
  const std::string name = own("killed");
  const std::string gap = own("gap");
  auto victim = start(GetParam(), kBriefSession);
  victim->ask("begin " + path(name));
  ASSERT_EQ(victim->ask("held " + path(name) + ' ' + kPatience), "held");
  auto lease = client_.acquire(gap);
  ASSERT_TRUE(lease);
  victim->ask("begin " + path(gap));
  until_waiting(gap, 1);
  Client another = connect(GetParam().parameters);
  auto last = std::async(std::launch::async, [&] { return another.acquire(gap); });
  until_waiting(gap, 2);
  auto waiting = wait_for(name);
  until_waiting(name, 1);
  victim.reset();
  EXPECT_TRUE(waiting.get());
  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  EXPECT_TRUE(last.get());
}

TEST_P(ZookeeperRecipesTest, OursThatWasKilledIsHandedOnWhenItsSessionEnds) {
  const std::string name = own("orphan");
  OurHolder holder{url_with(GetParam().parameters), name};
  begin(name);
  until_waiting(name, 1);
  EXPECT_EQ(held(name, kGlance), "waiting");
  holder.kill();
  EXPECT_EQ(held(name), "held");
  release(name);
}

TEST_P(ZookeeperRecipesTest, OurReadersKeepThemOutToTheLast) {
  const std::string name = own("read");
  auto first = client_.acquire(name, {.mode = Mode::shared});
  auto second = client_.acquire(name, {.mode = Mode::shared});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(theirs().ask("try " + path(name) + ' ' + GetParam().exclusive), "busy");
  begin(name, GetParam().exclusive);
  until_waiting(name, 1);
  EXPECT_EQ(first->release(), ReleaseOutcome::released);
  EXPECT_EQ(second->release(), ReleaseOutcome::released);
  EXPECT_EQ(held(name), "held");
  release(name);
}

TEST_P(ZookeeperRecipesTest, ReadersOfBothShareAndWritersOfBothDoNot) {
  const std::string name = own("read-write");
  Client ours = connect(GetParam().read_write);
  auto reader = ours.acquire(name, {.mode = Mode::shared});
  ASSERT_TRUE(reader) << reader.error().message;
  begin(name, "read");
  EXPECT_EQ(held(name), "held");
  EXPECT_EQ(theirs().ask("try " + path(name) + " write"), "busy");
  EXPECT_EQ(ours.try_acquire(name).error().code, Errc::busy);
  EXPECT_EQ(reader->release(), ReleaseOutcome::released);
  EXPECT_EQ(ours.try_acquire(name).error().code, Errc::busy);
  release(name);
  auto writer = ours.acquire(name);
  ASSERT_TRUE(writer) << writer.error().message;
  EXPECT_EQ(theirs().ask("try " + path(name) + " read"), "busy");
}

TEST_P(ZookeeperRecipesTest, BareNamesAreTheirPaths) {
  const std::string separator = GetParam().parameters.empty() ? "?" : "&";
  Client bare = connect(GetParam().parameters + separator + "prefix=");
  const std::string name = own("jobs/nightly");
  theirs().ask("begin /" + name);
  ASSERT_EQ(theirs().ask("held /" + name + ' ' + kPatience), "held");
  EXPECT_EQ(bare.try_acquire(name).error().code, Errc::busy);
  EXPECT_EQ(theirs().ask("release /" + name), "released");
  auto lease = bare.acquire(name);
  ASSERT_TRUE(lease) << lease.error().message;
  EXPECT_EQ(theirs().ask("try /" + name), "busy");
}

}  // namespace
}  // namespace holdfast::interop

int main(int argc, char** argv) { return holdfast::interop::main_with_holders(argc, argv); }
