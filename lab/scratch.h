// A temporary directory of a demonstration's own: its engine lives there, and goes with it.

#pragma once

#include <cstdint>
#include <string>

#include "holdfast/result.h"

namespace holdfast::lab {

enum class Keep : std::uint8_t { no, yes };

class Scratch {
 public:
  /// In TMPDIR. io_error: it cannot be made.
  static Result<Scratch> make(Keep keep);

  ~Scratch();
  Scratch(Scratch&& other) noexcept;
  Scratch& operator=(Scratch&&) = delete;

  const std::string& path() const { return path_; }
  /// The URL of the engine in it. What is stored need not survive a power failure.
  std::string engine() const { return "local:" + path_ + "?sync=off"; }

 private:
  Scratch(std::string path, Keep keep);

  std::string path_;
  Keep keep_;
};

}  // namespace holdfast::lab
