// The ground every test of the contract stands on: a fresh engine, a client, actors on demand.

#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "holdfast/client.h"
#include "tests/contract/actor.h"
#include "tests/contract/engines.h"
#include "tests/contract/patience.h"

namespace holdfast::contract {

using namespace std::chrono_literals;

class ContractTest : public ::testing::TestWithParam<EngineUnderTest> {
 protected:
  void SetUp() override;

  Client& client() { return *client_; }
  const std::string& url() const { return engine_.url; }
  /// A path in a directory of this test's own.
  std::string file(const std::string& name) const;

  /// Connects anew, as another process would.
  Client reconnect() const;
  /// One that may take locks and resources away from others.
  Client operator_client() const;
  std::unique_ptr<Actor> actor() const { return std::make_unique<Actor>(url()); }

  /// Waits until the lock has that many holders or waiters. False when it does not come to it.
  bool wait_for_holders(const std::string& name, std::size_t count);
  bool wait_for_waiters(const std::string& name, std::size_t count);

  /// Takes the lock, releases it at once and returns its token. Fails the test if it cannot.
  Token next_token(const std::string& name);

  /// What the table says. When the engine cannot do it, asking must be Errc::unsupported with a
  /// reason: checked here, and the test has nothing left to do.
  bool can(bool Capabilities::*ability, const AcquireOptions& example);
  /// The same for the order in which waiters are served, which nobody can ask for.
  bool serves_in_order();

 private:
  FreshEngine engine_;
  FreshEngine scratch_;
  std::unique_ptr<Client> client_;
};

inline std::string engine_name(const ::testing::TestParamInfo<EngineUnderTest>& info) {
  return info.param.name;
}

}  // namespace holdfast::contract

/// Runs a suite of TEST_Ps on every engine of the table.
#define HOLDFAST_CONTRACT(suite)                                                            \
  INSTANTIATE_TEST_SUITE_P(Engine,                                                          \
                           suite,                                                           \
                           ::testing::ValuesIn(::holdfast::contract::engines_under_test()), \
                           ::holdfast::contract::engine_name)
