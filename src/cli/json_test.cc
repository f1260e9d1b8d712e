#include "cli/json.h"

#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

namespace holdfast::cli {
namespace {

Contender holder(std::uint64_t token) {
  Contender contender;
  contender.owner_fp = "0011223344556677";
  contender.token = Token{token};
  contender.host = "db1";
  contender.pid = 42;
  contender.label = "nightly";
  contender.since_ms = 1000;
  contender.ttl = Millis{2500};
  return contender;
}

TEST(JsonTest, ErrorHasItsFourFields) {
  Error error{Errc::unavailable, "no answer", "look"};
  error.nodes.push_back({"a:1", "refused"});
  EXPECT_EQ(boost::json::serialize(error_json("unavailable", error)),
            R"({"error":{"code":"unavailable","message":"no answer","remedy":"look",)"
            R"("nodes":[{"node":"a:1","message":"refused"}]}})");
}

TEST(JsonTest, ContenderFieldsAreThoseOfTheTable) {
  EXPECT_EQ(boost::json::serialize(contender_json(holder(7))),
            R"({"owner_fp":"0011223344556677","token":7,"host":"db1","pid":42,)"
            R"("label":"nightly","since_ms":1000,"ttl_ms":2500,"foreign":false})");
}

TEST(JsonTest, SummaryGivesTheHighestTokenOrNull) {
  LockInfo lock;
  lock.name = "a";
  EXPECT_EQ(boost::json::serialize(summary_json(lock)),
            R"({"name":"a","mode":"exclusive","holders":0,"waiters":0,"token":null})");
  lock.mode = Mode::shared;
  lock.holders = {holder(7), holder(9), holder(8)};
  EXPECT_EQ(boost::json::serialize(summary_json(lock)),
            R"({"name":"a","mode":"shared","holders":3,"waiters":0,"token":9})");
}

TEST(JsonTest, TextThatIsNotUtf8StaysValidJson) {
  Contender contender = holder(1);
  contender.label = "a\xff";
  EXPECT_EQ(contender_json(contender).at("label").as_string(), "a\xef\xbf\xbd");
}

TEST(JsonTest, LargestTokenIsExact) {
  EXPECT_EQ(boost::json::serialize(contender_json(holder(Token::kMax)).at("token")),
            "9007199254740991");
}

TEST(JsonTest, LeaderIsNullWhileNobodyLeads) {
  const auto nobody = leader_json("billing", std::nullopt);
  EXPECT_EQ(boost::json::serialize(nobody), R"({"name":"billing","leader":null})");
  const Leader leader{
      .id = "a", .value = "x:1", .epoch = Token{7}, .host = "h", .pid = 4, .since_ms = 5};
  EXPECT_EQ(boost::json::serialize(leader_json("billing", leader)),
            R"({"name":"billing","leader":{"id":"a","value":"x:1","epoch":7,"host":"h",)"
            R"("pid":4,"since_ms":5}})");
}

}  // namespace
}  // namespace holdfast::cli
