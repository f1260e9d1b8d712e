// A transfer between two accounts: both locks or none, in whatever order they are named.

#include <holdfast/multi_lock.h>

#include <iostream>

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  auto client = holdfast::Client::connect(argc > 1 ? argv[1] : "local:");
  if (!client) return std::cerr << client.error().message << '\n', 69;
  const char* const from = "accounts/bob";
  const char* const to = "accounts/ann";
  auto lease = holdfast::acquire_all(*client, {from, to}, {.ttl = 10s, .wait = 5s});
  if (!lease) return std::cerr << lease.error().message << '\n', 75;
  // Each account checks the token of its own lock.
  std::cout << "debiting " << from << " with token " << lease->token(from)->value() << '\n'
            << "crediting " << to << " with token " << lease->token(to)->value() << '\n';
  return lease->ensure_held() ? 0 : 76;
}  // Both locks are released here.
