// Two locks at once with the standard library's own guard: no deadlock, whatever the order.

#include <holdfast/mutex.h>

#include <iostream>
#include <mutex>
#include <system_error>

int main(int argc, char** argv) {
  auto client = holdfast::Client::connect(argc > 1 ? argv[1] : "local:");
  if (!client) return std::cerr << client.error().message << '\n', 69;
  holdfast::mutex alice{*client, "accounts/alice"};
  holdfast::mutex bob{*client, "accounts/bob"};
  try {
    const std::scoped_lock both{alice, bob};
    std::cout << "moving money with tokens " << alice.token().value() << " and "
              << bob.token().value() << '\n';
    return alice.lease().ensure_held() && bob.lease().ensure_held() ? 0 : 76;
  } catch (const std::system_error& error) {
    return std::cerr << error.what() << '\n', 75;
  }
}
