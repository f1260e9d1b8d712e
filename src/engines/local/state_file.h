// The state file of the local engine, mapped into this process.
//
// Any number of processes map it. Each holds a shared lock on it while it is attached, so that the
// kernel can tell the first one that it is alone: whatever sessions the file speaks of are then
// over, and tokens go on above everything that may ever have been given out.
//
// Thread safety: every member may be called from any thread.
// Lifetime: pointers into the file stay valid as long as the StateFile.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "engines/local/layout.h"
#include "holdfast/result.h"

namespace holdfast::local {

class StateFile {
 public:
  /// Opens or creates `<directory>/locks`.
  ///
  /// corrupt: the file is foreign, damaged, truncated, or of another version; it is left as it is.
  /// unsupported: a network file system, or processes of another time namespace are attached.
  /// denied, io_error, no_space: the operating system's word.
  /// unavailable: another process has been preparing the file for too long.
  static Result<std::unique_ptr<StateFile>> open(const std::string& directory);

  ~StateFile();
  StateFile(const StateFile&) = delete;
  StateFile& operator=(const StateFile&) = delete;

  Header& header() { return *reinterpret_cast<Header*>(base_); }
  std::atomic<std::uint64_t>& bucket(std::size_t index) {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(base_ + kHeaderBytes)[index];
  }
  template <class T>
  T& at(Ref ref) {
    return *reinterpret_cast<T*>(base_ + std::uint64_t{ref} * kUnit);
  }
  Ref ref_of(const void* object) const {
    return static_cast<Ref>((static_cast<const char*>(object) - base_) / kUnit);
  }

  /// Makes the file at least `bytes` long, so that memory below that may be touched.
  Result<void> grow_to(std::uint64_t bytes);

  /// Returns when the header has reached the disk. After a failure nothing may be trusted to reach
  /// it any more: every later call fails too.
  Result<void> sync_header();

  /// Whether the file was deleted or replaced: processes that come later do not see this one.
  bool deleted() const;

  const std::string& directory() const { return directory_; }
  std::string path() const { return directory_ + "/locks"; }

 private:
  StateFile(std::string directory, int fd, char* base, std::uint64_t mapped)
      : directory_{std::move(directory)}, fd_{fd}, base_{base}, mapped_{mapped} {}

  Result<void> prepare_alone(std::uint64_t size);
  Result<void> join(std::uint64_t size);
  Result<void> check_header(std::uint64_t size);
  Result<void> create();
  Result<void> reset();
  Result<void> begin_tokens();

  std::string directory_;
  int fd_;
  char* base_;
  std::uint64_t mapped_;
  std::atomic<bool> poisoned_{false};
};

}  // namespace holdfast::local
