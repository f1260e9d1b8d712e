#include "client/file_location.h"

#include <limits.h>
#include <stdlib.h>

#include <array>
#include <cerrno>
#include <memory>

#include "base/hex.h"
#include "client/file_io.h"

namespace holdfast::files {
namespace {

constexpr std::size_t kNumberBytes = 6;
constexpr std::string_view kInfix = ".holdfast-";
// Of the longest name beside the file: a dot, the infix and the number.
constexpr std::size_t kNameBytesMax = NAME_MAX - 1 - kInfix.size() - 2 * kNumberBytes;

Unexpected<StoreError> not_a_file(std::string message) {
  return Unexpected{
      StoreError{Errc::invalid_argument, std::move(message), "give the path of a regular file"}};
}

std::string parent_of(const std::string& path) {
  const auto slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return path.substr(0, slash + 1);
}

/// The path without symbolic links in its last part. A link to nothing leads where it points.
Result<std::string, StoreError> follow_links(std::string path) {
  const std::string asked = path;
  constexpr int kHopsMax = 40;
  for (int hop = 0; hop < kHopsMax; ++hop) {
    std::array<char, PATH_MAX> target{};
    const ssize_t length = readlink(path.c_str(), target.data(), target.size());
    if (length < 0) return path;
    const std::string_view next{target.data(), static_cast<std::size_t>(length)};
    if (next.starts_with('/')) {
      path = next;
    } else {
      path = parent_of(path) + "/" + std::string{next};
    }
  }
  return Unexpected{os_error("follow", asked, ELOOP)};
}

Result<std::string, StoreError> absolute(const std::string& directory) {
  const std::unique_ptr<char, decltype(&free)> resolved{realpath(directory.c_str(), nullptr),
                                                        &free};
  if (!resolved) return Unexpected{os_error("find the directory", directory, errno)};
  return std::string{resolved.get()};
}

}  // namespace

std::string Location::temporary(std::uint64_t number) const {
  std::array<std::uint8_t, kNumberBytes> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = (number >> (8 * i)) & 0xff;
  return directory + "/." + name + std::string{kInfix} + to_hex(bytes);
}

Result<Location, StoreError> locate(const std::string& path) {
  if (path.find('\0') != std::string::npos) return not_a_file("the path contains a zero byte");
  auto followed = follow_links(path);
  if (!followed) return Unexpected{std::move(followed).error()};
  const std::string name = followed->substr(followed->find_last_of('/') + 1);
  if (name.empty() || name == "." || name == "..") {
    return not_a_file("\"" + path + "\" does not name a file");
  }
  if (name.ends_with(".fence")) {
    return not_a_file(path + " has the name of a file's marks, which end in .fence");
  }
  if (name.size() > kNameBytesMax) {
    return not_a_file("the file's name has more than " + std::to_string(kNameBytesMax) + " bytes");
  }
  auto directory = absolute(parent_of(*followed));
  if (!directory) return Unexpected{std::move(directory).error()};
  if (*directory == "/") directory->clear();
  Location where{.directory = *directory, .name = name, .path = *directory + "/" + name};
  if (where.directory.empty()) where.directory = "/";
  if (auto seen = look_at(where.path); !seen) return Unexpected{std::move(seen).error()};
  return where;
}

}  // namespace holdfast::files
