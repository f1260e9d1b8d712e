// What a server may refuse, and what is at a key that is not ours: the caller learns what is wrong,
// and nothing is changed.

#include "engines/redis/store/store_call.h"
#include "tests/redis_store/store_bed.h"

namespace holdfast::redis_store {
namespace {

class RefusalTest : public StoreBed {
 protected:
  /// The server and its users as they were.
  ~RefusalTest() override {
    command({"CONFIG", "SET", "maxmemory", "0"});
    command({"REPLICAOF", "NO", "ONE"});
    command({"ACL", "SETUSER", "default", "+@all", "~*"});
  }

  StoreError refusal(const StoreRequest& request) {
    const auto result = store().perform(request);
    if (!result) return result.error();
    ADD_FAILURE() << "it was not refused";
    return {};
  }

  std::string hash() const { return redis::store_key(kPrefix, Space::values, "k"); }
};

TEST_F(RefusalTest, SomethingElseAtTheKeyIsCorrupt) {
  command({"RPUSH", hash(), "item"});
  for (const StoreRequest& request :
       {get(), put("a"), erase(), open(1), read(1), write(1, 1, "a")}) {
    const StoreError error = refusal(request);
    EXPECT_EQ(error.code, Errc::corrupt);
    EXPECT_NE(error.message.find("WRONGTYPE"), std::string::npos) << error.message;
    EXPECT_NE(error.message.find("\"k\""), std::string::npos) << error.message;
  }
  EXPECT_EQ(command({"LLEN", hash()}).integer, 1);
}

TEST_F(RefusalTest, ADamagedHashIsCorrupt) {
  ASSERT_TRUE(store().perform(write(5, 1, "a")));
  for (const char* field : {"version", "exclusive", "any", "sequence", "written"}) {
    const auto before = command({"HGET", hash(), field});
    command({"HSET", hash(), field, "junk"});
    const StoreError error = refusal(write(5, 2, "b"));
    EXPECT_EQ(error.code, Errc::corrupt);
    EXPECT_NE(error.message.find(field), std::string::npos) << error.message;
    command({"HSET", hash(), field, before.text});
  }
  EXPECT_TRUE(store().perform(write(5, 2, "b")));
}

TEST_F(RefusalTest, AFullServerChangesNothingAndStillAnswers) {
  ASSERT_TRUE(store().perform(put("before")));
  command({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_EQ(refusal(put("after")).code, Errc::no_space);
  EXPECT_EQ(refusal(open(1)).code, Errc::no_space);
  EXPECT_EQ(store().perform(get())->entry->value, "before");
}

TEST_F(RefusalTest, AReplicaIsNotWritten) {
  ASSERT_TRUE(store().perform(put("before")));
  // Nobody is there: the server waits for its master and refuses to be written meanwhile.
  command({"REPLICAOF", "127.0.0.1", "1"});
  const StoreError error = refusal(put("after"));
  EXPECT_EQ(error.code, Errc::unavailable);
  EXPECT_NE(error.message.find("READONLY"), std::string::npos) << error.message;
}

TEST_F(RefusalTest, AUserWithoutPermissionIsDenied) {
  command({"ACL", "SETUSER", "default", "-hset"});
  const StoreError command_error = refusal(put("a"));
  EXPECT_EQ(command_error.code, Errc::denied) << command_error.message;
  command({"ACL", "SETUSER", "default", "+hset", "resetkeys", "~another:*"});
  const StoreError key_error = refusal(put("a"));
  EXPECT_EQ(key_error.code, Errc::denied) << key_error.message;
  command({"ACL", "SETUSER", "default", "~*"});
  EXPECT_FALSE(stored());
}

TEST_F(RefusalTest, AServerThatIsGoneIsUnavailable) {
  ports::RedisProcess doomed;
  const auto port = std::make_shared<FaultyPort>(*env_, doomed.socket());
  const auto orphan = std::make_shared<redis::RedisStore>(
      *env_, port, redis::StoreSettings{.timeout = Millis{100}});
  ASSERT_TRUE(orphan->perform(put("a")));
  doomed.kill();
  EXPECT_EQ(orphan->perform(get()).error().code, Errc::unavailable);
  EXPECT_EQ(orphan->perform(put("b")).error().code, Errc::unavailable);
}

TEST_F(RefusalTest, TheLargestValuesAndNumbersAreExact) {
  const std::string largest(kValueBytesMax, '\0');
  ASSERT_TRUE(store().perform(put(largest)));
  EXPECT_EQ(store().perform(get())->entry->value, largest);
  ASSERT_TRUE(store().perform(open(Token::kMax - 1)));
  EXPECT_EQ(code_of(write(Token::kMax - 2, 1, "a")), Errc::stale_token);
  const auto written = store().perform(write(Token::kMax - 1, core::kSequenceMax, "a"));
  ASSERT_TRUE(written);
  EXPECT_EQ(written->sequence, core::kSequenceMax);
  ASSERT_TRUE(store().perform(open(Token::kMax)));
  const auto entry = store().perform(read(Token::kMax))->entry;
  EXPECT_EQ(entry->token, Token{Token::kMax - 1});
  EXPECT_EQ(entry->sequence, core::kSequenceMax);
  EXPECT_EQ(refusal(open(Token::kMax - 1)).highest, Token{Token::kMax});
}

TEST_F(RefusalTest, ARebaseIsOnRecord) {
  ASSERT_TRUE(store().perform(open(7)));
  const StoreRequest rebase{.key = "k",
                            .operation = RebaseResource{.domain = "new#x", .why = "a \"reason\""}};
  ASSERT_TRUE(store().perform(rebase));
  const auto records =
      command({"XRANGE", redis::record_key(kPrefix, Space::values, "k"), "-", "+"});
  ASSERT_EQ(records.items.size(), 1U);
  std::vector<std::string> words;
  for (const auto& item : records.items[0].items[1].items) words.push_back(item.text);
  EXPECT_EQ(words,
            (std::vector<std::string>{"action",
                                      "rebase",
                                      "resource",
                                      hash(),
                                      "from",
                                      "redis:somewhere#x",
                                      "to",
                                      "new#x",
                                      "highest",
                                      "7",
                                      "why",
                                      "a \"reason\"",
                                      "who",
                                      "the tests"}));
}

TEST_F(RefusalTest, TheRecordIsBounded) {
  ASSERT_TRUE(store().perform(open(7)));
  for (int i = 0; i < 120; ++i) {
    ASSERT_TRUE(other({.key = "k", .operation = RebaseResource{.domain = "new#x"}}));
  }
  EXPECT_EQ(command({"XLEN", redis::record_key(kPrefix, Space::values, "k")}).integer, 100);
}

}  // namespace
}  // namespace holdfast::redis_store
