// Every transcript has the outcomes it says. With --rewrite the files are given those they have.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "tests/transcripts/difference.h"
#include "tests/transcripts/performance.h"

namespace holdfast::transcripts {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names() {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator{HOLDFAST_TRANSCRIPTS}) {
    const fs::path& path = entry.path();
    const bool is_transcript = path.extension() == ".txt" && path.stem() != "CMakeLists";
    if (is_transcript) found.push_back(path.stem().string());
  }
  std::ranges::sort(found);
  return found;
}

fs::path path_of(const std::string& name) {
  return fs::path{HOLDFAST_TRANSCRIPTS} / (name + ".txt");
}

std::string contents_of(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream{path_of(name)}.rdbuf();
  return text.str();
}

class TranscriptTest : public testing::TestWithParam<std::string> {};

TEST_P(TranscriptTest, HasTheOutcomesItSays) {
  const std::string text = contents_of(GetParam());
  const auto played = play(text);
  ASSERT_TRUE(played) << GetParam() << ".txt:" << played.error().message;
  const std::string changes = difference(text, *played);
  EXPECT_TRUE(changes.empty()) << GetParam() << ".txt, - as written, + as it is now (--rewrite "
                               << "accepts it):\n"
                               << changes;
}

INSTANTIATE_TEST_SUITE_P(All, TranscriptTest, testing::ValuesIn(names()), [](const auto& one) {
  return one.param;
});

TEST(TranscriptsTest, AreFound) { EXPECT_GE(names().size(), 10U); }

int rewrite() {
  int failures = 0;
  for (const std::string& name : names()) {
    const std::string text = contents_of(name);
    const auto played = play(text);
    if (!played) {
      std::fprintf(stderr, "%s.txt:%s\n", name.c_str(), played.error().message.c_str());
      ++failures;
    } else if (*played != text) {
      std::ofstream{path_of(name)} << *played;
      std::printf("rewritten: %s.txt\n", name.c_str());
    }
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace holdfast::transcripts

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view{argv[1]} == "--rewrite") {
    return holdfast::transcripts::rewrite();
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
