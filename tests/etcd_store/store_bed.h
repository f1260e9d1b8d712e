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
#include "tests/marked_store/requests.h"

namespace holdfast::etcd_store {

inline constexpr const char* kPrefix = "hf/";
inline constexpr const char* kDomain = "etcd:somewhere";

class StoreBed : public ::testing::Test, protected marked_store::Requests {
 protected:
  StoreBed()
      : Requests{kDomain},
        env_{std::move(runtime::AsioEnv::create().value())},
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

  Server server_;
  std::unique_ptr<runtime::AsioEnv> env_;
  std::unique_ptr<runtime::AsioEnv> others_env_;
  std::shared_ptr<FaultyPort> port_;
  std::shared_ptr<etcd::EtcdStore> store_;
  std::shared_ptr<etcd::EtcdStore> other_;
};

}  // namespace holdfast::etcd_store

/// As tests/marked_store has it.
namespace holdfast::marked_store {
using etcd_store::StoreBed;
}  // namespace holdfast::marked_store
