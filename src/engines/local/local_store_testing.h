// The ground of the tests of the local store: a directory, and requests by hand.

#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "engines/local/local_store.h"
#include "engines/local/test_directory.h"

namespace holdfast::local {

class LocalStoreTest : public ::testing::Test {
 protected:
  Result<std::shared_ptr<StoreBackend>> open(const StoreSettings& settings = {.sync = Sync::off}) {
    return LocalStore::open(directory_.path(), settings);
  }

  static core::Holder holder(std::uint64_t token) {
    return {.domain = "a lock with a name that is too long for small strings#x",
            .mode = Mode::exclusive,
            .token = Token{token},
            .owner_fp = "an owner with a long name, too"};
  }

  static StoreRequest put(std::string value, std::string key = "k") {
    return {.key = std::move(key), .operation = PutKey{.value = std::move(value)}};
  }
  static StoreRequest get(std::string key = "k") {
    return {.key = std::move(key), .operation = GetKey{}};
  }
  static StoreRequest keep(std::string key, Millis time) {
    return {.space = Space::once,
            .key = std::move(key),
            .operation = WriteResource{.holder = holder(1), .value = "result", .keep = time}};
  }

  static StoreRequest opened(std::string key, std::uint64_t token) {
    return {.space = Space::once,
            .key = std::move(key),
            .operation = OpenResource{.holder = holder(token)}};
  }
  static StoreRequest write_next(std::string key, std::uint64_t token, std::uint64_t sequence) {
    return {.space = Space::once,
            .key = std::move(key),
            .operation = WriteResource{.holder = holder(token),
                                       .opened = core::Opened::before,
                                       .sequence = sequence,
                                       .value = "result"}};
  }

  std::string path() const { return directory_.path() + "/store.db"; }
  std::string contents() const {
    std::ifstream file{path(), std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
  }
  void overwrite(const std::string& bytes) const {
    std::ofstream{path(), std::ios::binary | std::ios::trunc} << bytes;
  }
  std::int64_t rows() const {
    auto database = Database::open(path(), Millis{1000});
    auto statement = Statement::prepare(**database, "SELECT count(*) FROM entry");
    return statement->step() ? statement->integer(0) : -1;
  }

  TestDirectory directory_;
};

}  // namespace holdfast::local
