#include <gtest/gtest.h>

#include <string>

#include "tests/crash/victim.h"

int main(int argc, char** argv) {
  const std::string role = argc > 1 ? argv[1] : "";
  if (role == "--victim" || role == "--storm") return holdfast::crash::run_victim(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
