// The rights that the guide tells to give are those the contract suite runs with.

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "holdfast/client.h"
#include "tests/contract/engines.h"
#include "tests/redis_ha/sentinel_bed.h"

namespace holdfast::ha {
namespace {

std::string guide() {
  std::ifstream file{HOLDFAST_GUIDE};
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(RightsTest, TheGuideHasTheLinesThatAreTested) {
  const std::string line = "ACL SETUSER app >secret " + std::string{contract::kRestrictedRights};
  EXPECT_NE(guide().find(line), std::string::npos) << line;
  EXPECT_NE(guide().find(contract::kClusterRights), std::string::npos) << contract::kClusterRights;
}

TEST(RightsTest, BehindSentinelsTheyAndRoleAreEnough) {
  SentinelBed bed;
  std::vector<std::string> words{"ACL", "SETUSER", "app", ">secret"};
  std::istringstream rights{contract::kRestrictedRights + std::string{" +role"}};
  for (std::string right; rights >> right;) words.push_back(right);
  for (const std::size_t server : {0U, 1U}) {
    ASSERT_EQ(bed.command(server, words), redis::Reply::of_text("OK"));
  }
  std::string url = bed.url();
  url.insert(url.find("//") + 2, "app:secret@");
  auto client = Client::connect(url);
  ASSERT_TRUE(client) << client.error().message;
  EXPECT_TRUE(client->try_acquire("ledger"));
}

}  // namespace
}  // namespace holdfast::ha
