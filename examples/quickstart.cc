#include <holdfast/client.h>

#include <iostream>

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  auto client = holdfast::Client::connect(argc > 1 ? argv[1] : "local:");
  if (!client) return std::cerr << client.error().message << '\n', 69;
  auto lease = client->acquire("reports/daily", {.ttl = 10s, .wait = 5s});
  if (!lease) return std::cerr << lease.error().message << '\n', 75;
  // Send the token along with every write: a resource that has seen a higher one refuses it.
  std::cout << "writing the report with token " << lease->token().value() << '\n';
  return lease->ensure_held() ? 0 : 76;
}  // The lock is released here.
