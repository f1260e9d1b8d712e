// The ground of the tests of the ZooKeeper store: a model tree, a store over a port that can fail,
// and somebody else who uses the same keys.

#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "engines/zookeeper/store/zookeeper_store.h"
#include "runtime/asio_env.h"
#include "tests/marked_store/requests.h"
#include "tests/zookeeper_store/faulty_port.h"

namespace holdfast::zookeeper_store {

inline constexpr const char* kPrefix = "/hf";
inline constexpr const char* kDomain = "zookeeper:somewhere";

class StoreBed : public ::testing::Test, protected marked_store::Requests {
 protected:
  StoreBed()
      : Requests{kDomain},
        env_{std::move(runtime::AsioEnv::create().value())},
        others_env_{std::move(runtime::AsioEnv::create().value())},
        port_{std::make_shared<FaultyPort>(*env_, server_)},
        store_{make_store(*env_, port_)},
        other_{make_store(*others_env_, std::make_shared<FaultyPort>(*others_env_, server_))} {}

  static std::shared_ptr<zookeeper::ZookeeperStore> make_store(
      Env& env, const std::shared_ptr<FaultyPort>& port, Millis timeout = Millis{5000}) {
    return std::make_shared<zookeeper::ZookeeperStore>(
        env,
        zookeeper::StoreLine::create(env, port),
        zookeeper::StoreSettings{
            .prefix = kPrefix, .domain = kDomain, .timeout = timeout, .who = "the tests"});
  }

  zookeeper::ZookeeperStore& store() { return *store_; }
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

  /// What a program does that has nothing to do with us.
  zookeeper::Answer serve(const zookeeper::Request& request) {
    const std::lock_guard lock{server_.mutex};
    return server_.serve(request);
  }

  Server server_;
  std::unique_ptr<runtime::AsioEnv> env_;
  std::unique_ptr<runtime::AsioEnv> others_env_;
  std::shared_ptr<FaultyPort> port_;
  std::shared_ptr<zookeeper::ZookeeperStore> store_;
  std::shared_ptr<zookeeper::ZookeeperStore> other_;
};

}  // namespace holdfast::zookeeper_store

/// As tests/marked_store has it.
namespace holdfast::marked_store {
using zookeeper_store::StoreBed;
}  // namespace holdfast::marked_store
