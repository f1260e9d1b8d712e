// The requests of the tests of stores over a port that can fail. All are about one key.

#pragma once

#include <optional>
#include <string>
#include <utility>

#include "core/store_backend.h"

namespace holdfast::marked_store {

class Requests {
 public:
  /// `domain`: of the engine.
  explicit Requests(std::string domain) : domain_{std::move(domain)} {}

  core::Holder holder(std::uint64_t token, Mode mode = Mode::exclusive) const {
    return {.domain = domain_ + "#x",
            .mode = mode,
            .token = Token{token},
            .owner_fp = "owner-" + std::to_string(token)};
  }
  StoreRequest open(std::uint64_t token) const {
    return {.key = "k", .operation = OpenResource{.holder = holder(token)}};
  }
  StoreRequest read(std::uint64_t token) const {
    return {.key = "k",
            .operation = ReadResource{.holder = holder(token), .opened = core::Opened::before}};
  }
  StoreRequest write(std::uint64_t token, std::uint64_t sequence, std::string value) const {
    return {.key = "k",
            .operation = WriteResource{
                .holder = holder(token), .sequence = sequence, .value = std::move(value)}};
  }
  static StoreRequest put(std::string value, std::optional<Version> if_version = {}) {
    return {.key = "k", .operation = PutKey{.value = std::move(value), .if_version = if_version}};
  }
  static StoreRequest erase(std::optional<Version> if_version = {}) {
    return {.key = "k", .operation = EraseKey{.if_version = if_version}};
  }
  static StoreRequest get() { return {.key = "k", .operation = GetKey{}}; }

 private:
  std::string domain_;
};

}  // namespace holdfast::marked_store
