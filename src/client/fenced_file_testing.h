// What the tests of fenced files share.

#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "holdfast/fenced_file.h"

namespace holdfast::testing {

inline constexpr Errc kDone{};

template <class T>
Errc code(const Result<T, StoreError>& result) {
  return result ? kDone : result.error().code;
}

inline Sequencer holder(std::uint64_t token, Mode mode = Mode::exclusive, std::string owner = "") {
  if (owner.empty()) owner = "owner-" + std::to_string(token);
  return {.domain = "engine",
          .name = "lock",
          .mode = mode,
          .token = Token{token},
          .owner_fp = std::move(owner)};
}

/// As any other program sees it; empty: there is no file.
inline std::optional<std::string> on_disk(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file) return std::nullopt;
  return std::string{std::istreambuf_iterator<char>{file}, {}};
}

inline void put_on_disk(const std::string& path, std::string_view content) {
  std::ofstream{path, std::ios::binary} << content;
}

/// A fresh directory for one test, gone with it; in memory where the system has a place for it, for
/// tests that write thousands of times and never look at the disk.
class MemoryDirectory {
 public:
  MemoryDirectory() {
    std::string pattern = access("/dev/shm", W_OK) == 0 ? "/dev/shm/" : ::testing::TempDir();
    pattern += "holdfast.XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~MemoryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  MemoryDirectory(const MemoryDirectory&) = delete;
  MemoryDirectory& operator=(const MemoryDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace holdfast::testing
