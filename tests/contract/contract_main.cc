#include <gtest/gtest.h>
#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tests/contract/actor.h"

namespace {

/// Nothing of the contract may be left out silently; engines.cc is the only table of exceptions.
class SkipsAreFailures : public ::testing::EmptyTestEventListener {
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (!result.skipped()) return;
    std::fprintf(stderr, "a test of the contract was skipped: %s\n", result.message());
    std::_Exit(1);
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view{argv[1]} == "--actor") {
    return holdfast::contract::run_actor(argv[2]);
  }
  ::testing::InitGoogleTest(&argc, argv);
  ::testing::UnitTest::GetInstance()->listeners().Append(new SkipsAreFailures);
  signal(SIGPIPE, SIG_IGN);
  return RUN_ALL_TESTS();
}
