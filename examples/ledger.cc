// Withdraws from a ledger that refuses whoever lost the lock, and counts without any lock.

#include <holdfast/client.h>
#include <holdfast/store.h>

#include <iostream>

namespace {

int fail(const holdfast::Error& error) {
  std::cerr << error.message << ": " << error.remedy() << '\n';
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  auto client = holdfast::Client::connect(argc > 1 ? argv[1] : "local:");
  if (!client) return fail(client.error());
  auto store = client->store();
  if (!store) return fail(store.error());

  auto lease = client->acquire("ledger");
  if (!lease) return fail(lease.error());
  auto ledger = store->open("ledger", *lease);  // before the first read
  if (!ledger) return fail(ledger.error());
  const auto balance = ledger->read();
  if (!balance) return fail(balance.error());
  const int left = (*balance ? std::stoi((*balance)->value) : 100) - 80;
  const auto written = ledger->write(std::to_string(left));
  if (!written) return fail(written.error());  // stale_token: somebody took over
  std::cout << "withdrew 80 with token " << written->token.value() << ", " << left << " left\n";

  const auto count = [](const holdfast::Entry* old) -> std::optional<std::string> {
    return std::to_string(old == nullptr ? 1 : std::stoi(old->value) + 1);
  };
  const auto updated = store->update("withdrawals", count);
  if (!updated) return fail(updated.error());

  const auto receipt = store->once("receipt/4711", [](const holdfast::Lease& runner) {
    return holdfast::OnceResult{
        .status = 0, .bytes = "printed under token " + std::to_string(runner.token().value())};
  });
  if (!receipt) return fail(receipt.error());
  std::cout << "receipt " << receipt->result.bytes << '\n';
  return 0;
}
