// The ground of the tests of the etcd store: a model server, a store over a port that can fail, and
// somebody else who uses the same keys.

#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "engines/etcd/store/etcd_store.h"
#include "runtime/asio_env.h"
#include "tests/etcd_store/faulty_port.h"

namespace holdfast::etcd_store {

inline constexpr const char* kPrefix = "hf/";
inline constexpr const char* kDomain = "etcd:somewhere";

class StoreBed : public ::testing::Test {
 protected:
  StoreBed()
      : env_{std::move(runtime::AsioEnv::create().value())},
        others_env_{std::move(runtime::AsioEnv::create().value())},
        port_{std::make_shared<FaultyPort>(*env_, server_)},
        store_{make_store(*env_, port_)},
        other_{make_store(*others_env_, std::make_shared<FaultyPort>(*others_env_, server_))} {}

  static std::shared_ptr<etcd::EtcdStore> make_store(Env& env,
                                                     const std::shared_ptr<FaultyPort>& port,
                                                     Millis timeout = Millis{5000}) {
    return std::make_shared<etcd::EtcdStore>(
        env,
        port,
        etcd::StoreSettings{
            .prefix = kPrefix, .domain = kDomain, .timeout = timeout, .who = "the tests"});
  }

  etcd::EtcdStore& store() { return *store_; }
  /// What another client does, past the store and its port.
  StoreResult other(const StoreRequest& request) { return other_->perform(request); }

  /// The code with which the store refuses; nothing when it does not.
  Errc code_of(const StoreRequest& request) {
    const auto result = store().perform(request);
    return result ? Errc{} : result.error().code;
  }

  std::optional<std::string> stored() {
    const auto found = other(get());
    if (!found || !found->entry) return std::nullopt;
    return found->entry->value;
  }

  static core::Holder holder(std::uint64_t token, Mode mode = Mode::exclusive) {
    return {.domain = std::string{kDomain} + "#x",
            .mode = mode,
            .token = Token{token},
            .owner_fp = "owner-" + std::to_string(token)};
  }
  static StoreRequest open(std::uint64_t token) {
    return {.key = "k", .operation = OpenResource{.holder = holder(token)}};
  }
  static StoreRequest read(std::uint64_t token) {
    return {.key = "k",
            .operation = ReadResource{.holder = holder(token), .opened = core::Opened::before}};
  }
  static StoreRequest write(std::uint64_t token, std::uint64_t sequence, std::string value) {
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

  Server server_;
  std::unique_ptr<runtime::AsioEnv> env_;
  std::unique_ptr<runtime::AsioEnv> others_env_;
  std::shared_ptr<FaultyPort> port_;
  std::shared_ptr<etcd::EtcdStore> store_;
  std::shared_ptr<etcd::EtcdStore> other_;
};

}  // namespace holdfast::etcd_store
