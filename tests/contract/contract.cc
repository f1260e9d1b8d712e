#include "tests/contract/contract.h"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace holdfast::contract {
namespace {

FreshEngine scratch_directory() {
  std::string path = (std::filesystem::temp_directory_path() / "holdfast-scratch-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) throw std::runtime_error{"cannot create " + path};
  const auto remove = [path](void*) { std::filesystem::remove_all(path); };
  return {.url = path, .resources = std::shared_ptr<void>{nullptr, remove}};
}

Client connected(const std::string& url) {
  auto client = Client::connect(url);
  if (!client) throw std::runtime_error{client.error().message};
  return std::move(*client);
}

}  // namespace

void ContractTest::SetUp() {
  engine_ = GetParam().fresh();
  scratch_ = scratch_directory();
  client_ = std::make_unique<Client>(reconnect());
}

std::string ContractTest::file(const std::string& name) const { return scratch_.url + "/" + name; }

Client ContractTest::reconnect() const { return connected(url()); }

Client ContractTest::operator_client() const {
  return connected(engine_.operator_url.empty() ? url() : engine_.operator_url);
}

bool ContractTest::wait_for_holders(const std::string& name, std::size_t count) {
  return eventually([&] { return client().inspect(name)->holders.size() == count; });
}

bool ContractTest::wait_for_waiters(const std::string& name, std::size_t count) {
  return eventually([&] { return client().inspect(name)->waiters.size() == count; });
}

Token ContractTest::next_token(const std::string& name) {
  auto lease = client().acquire(name, {.wait = kPatience});
  if (!lease) {
    ADD_FAILURE() << name << ": " << lease.error().message;
    return Token{0};
  }
  const Token token = lease->token();
  EXPECT_EQ(lease->release(), ReleaseOutcome::released);
  return token;
}

bool ContractTest::can(bool Capabilities::*ability, const AcquireOptions& example) {
  if (GetParam().can.*ability) return true;
  const auto refused = client().try_acquire("beyond", example);
  EXPECT_FALSE(refused);
  if (refused) return false;
  EXPECT_EQ(refused.error().code, Errc::unsupported);
  EXPECT_FALSE(refused.error().message.empty());
  return false;
}

bool ContractTest::serves_in_order() {
  EXPECT_EQ(client().capabilities().fifo, GetParam().can.fifo);
  return GetParam().can.fifo;
}

}  // namespace holdfast::contract
