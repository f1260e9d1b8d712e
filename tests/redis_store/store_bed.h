// The ground of the tests of the Redis store: a real server, a store over a port that can fail, and
// somebody else who uses the same keys.

#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engines/redis/store/redis_store.h"
#include "runtime/asio_env.h"
#include "tests/ports/redis_process.h"
#include "tests/redis_store/faulty_port.h"

namespace holdfast::redis_store {

inline constexpr const char* kPrefix = "hf:";

class StoreBed : public ::testing::Test {
 protected:
  StoreBed();

  redis::RedisStore& store() { return *store_; }
  /// As redis-cli would.
  redis::Reply command(const std::vector<std::string>& words);
  /// What another client does, past the store and its port.
  StoreResult other(const StoreRequest& request);
  /// The code with which the store refuses; nothing when it does not.
  Errc code_of(const StoreRequest& request);
  std::optional<std::string> stored(const std::string& key = "k");

  static core::Holder holder(std::uint64_t token, Mode mode = Mode::exclusive);
  static StoreRequest open(std::uint64_t token, Space space = Space::values);
  static StoreRequest read(std::uint64_t token, Space space = Space::values);
  static StoreRequest write(std::uint64_t token, std::uint64_t sequence, std::string value);
  static StoreRequest put(std::string value, std::optional<Version> if_version = {});
  static StoreRequest erase(std::optional<Version> if_version = {});
  static StoreRequest get() { return {.key = "k", .operation = GetKey{}}; }

  ports::RedisProcess& server_;
  ports::ServerConnection foreign_;
  std::unique_ptr<runtime::AsioEnv> env_;
  std::shared_ptr<FaultyPort> port_;
  std::shared_ptr<redis::RedisStore> store_;
};

}  // namespace holdfast::redis_store
