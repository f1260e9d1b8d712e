#include "lab/scratch.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

namespace holdfast::lab {

Result<Scratch> Scratch::make(Keep keep) {
  std::error_code error;
  const auto parent = std::filesystem::temp_directory_path(error);
  std::string pattern = (parent / "holdfast-lab.XXXXXX").string();
  if (error || mkdtemp(pattern.data()) == nullptr) {
    const std::string why = error ? error.message() : std::strerror(errno);
    return Unexpected{Error{Errc::io_error,
                            "cannot make a temporary directory: " + why,
                            "set TMPDIR to a directory that can be written to"}};
  }
  return Scratch{std::move(pattern), keep};
}

Scratch::Scratch(std::string path, Keep keep) : path_{std::move(path)}, keep_{keep} {}

Scratch::Scratch(Scratch&& other) noexcept
    : path_{std::exchange(other.path_, {})}, keep_{other.keep_} {}

Scratch::~Scratch() {
  if (path_.empty() || keep_ == Keep::yes) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace holdfast::lab
