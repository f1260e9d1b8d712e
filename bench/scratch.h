// A temporary directory, gone with its owner.

#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace holdfast::bench {

class Scratch {
 public:
  /// In memory: where the system has a file system for it, otherwise on the disk.
  enum class Place : std::uint8_t { disk, memory };

  explicit Scratch(Place place = Place::disk) {
    const std::filesystem::path memory{"/dev/shm"};
    const bool in_memory = place == Place::memory && access(memory.c_str(), W_OK) == 0;
    const auto parent = in_memory ? memory : std::filesystem::temp_directory_path();
    std::string pattern = (parent / "holdfast-bench.XXXXXX").string();
    const char* made = mkdtemp(pattern.data());
    if (made != nullptr) path_ = made;
  }
  ~Scratch() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace holdfast::bench
