// The example that shows what the fence is for.

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

#include "tests/postgres/shared_server.h"

namespace holdfast::postgres {
namespace {

std::string output_of(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "not started";
  std::string text;
  std::array<char, 256> part{};
  while (std::fgets(part.data(), part.size(), pipe) != nullptr) text += part.data();
  EXPECT_EQ(pclose(pipe), 0);
  return text;
}

TEST(BankTest, WithoutTheFenceTwoPayOutAndWithItExactlyOne) {
  const std::string told =
      output_of(std::string{HOLDFAST_BANK} + " '" + shared_server().url() + "'");
  const std::size_t with = told.find("with the fence");
  ASSERT_NE(with, std::string::npos) << told;
  EXPECT_NE(told.substr(0, with).find("of 100, 160 were paid out"), std::string::npos) << told;
  EXPECT_NE(told.substr(with).find("of 100, 80 were paid out"), std::string::npos) << told;
  EXPECT_NE(told.substr(with).find("is stale: the resource has seen"), std::string::npos) << told;
}

}  // namespace
}  // namespace holdfast::postgres
