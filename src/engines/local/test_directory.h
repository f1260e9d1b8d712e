// A fresh directory for one test, gone with it.

#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace holdfast::local {

class TestDirectory {
 public:
  TestDirectory() {
    std::string pattern = ::testing::TempDir() + "holdfast.XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~TestDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestDirectory(const TestDirectory&) = delete;
  TestDirectory& operator=(const TestDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string file() const { return path_ + "/locks"; }

 private:
  std::string path_;
};

}  // namespace holdfast::local
