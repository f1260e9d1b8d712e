// The ground of every test of the stores: an engine with a store, and holders by hand.

#pragma once

#include "tests/contract/contract.h"
#include "tests/contract/store_labour.h"

namespace holdfast::contract {

class StoreContractTest : public ContractTest {
 protected:
  void SetUp() override {
    ContractTest::SetUp();
    auto opened = client().store();
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = std::make_unique<Store>(std::move(*opened));
  }

  Store& store() { return *store_; }

  /// A holder of the lock "x" with a token of the test's choosing: engines mint tokens in order,
  /// and what a resource does must not depend on it.
  Sequencer holder(std::uint64_t token, Mode mode = Mode::exclusive, std::string owner = "") {
    if (owner.empty()) owner = "owner-" + std::to_string(token);
    return {.domain = client().domain(),
            .name = "x",
            .mode = mode,
            .token = Token{token},
            .owner_fp = owner};
  }

  Resource open(const std::string& resource, const Sequencer& who, const OpenOptions& how = {}) {
    auto opened = store().open(resource, who, how);
    if (!opened) throw std::runtime_error{opened.error().message};
    return std::move(*opened);
  }

  /// What is stored, without any check.
  std::optional<std::string> peek(const std::string& key) {
    const auto entry = store().get(key);
    if (!entry || !*entry) return std::nullopt;
    return (*entry)->value;
  }

 private:
  std::unique_ptr<Store> store_;
};

/// The code of a refusal, or nothing.
template <class Outcome>
Errc code_of(const Outcome& outcome) {
  return outcome ? Errc{} : outcome.error().code;
}

inline constexpr Errc kDone{};

/// That the others have none, and say so, is checked with their capabilities.
inline std::vector<EngineUnderTest> engines_with_a_store() {
  std::vector<EngineUnderTest> engines = engines_under_test();
  std::erase_if(engines, [](const EngineUnderTest& engine) { return !engine.can.store; });
  return engines;
}

}  // namespace holdfast::contract

/// Runs a suite of TEST_Ps on every engine of the table that has a store.
#define HOLDFAST_STORE_CONTRACT(suite)                                                        \
  INSTANTIATE_TEST_SUITE_P(Engine,                                                            \
                           suite,                                                             \
                           ::testing::ValuesIn(::holdfast::contract::engines_with_a_store()), \
                           ::holdfast::contract::engine_name)
