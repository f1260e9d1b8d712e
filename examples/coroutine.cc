// Waiting for a lock in a coroutine: no thread is blocked meanwhile.

#include <holdfast/async.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <iostream>

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> work(holdfast::Client client, int worker) {
  auto lease = co_await holdfast::async_acquire(client, "reports/daily", {.ttl = 10s});
  if (!lease) {
    std::cerr << lease.error().message << '\n';
    co_return;
  }
  std::cout << "worker " << worker << " has token " << lease->token().value() << '\n';
  co_await holdfast::async_release(std::move(*lease));
}

int main(int argc, char** argv) {
  auto client = holdfast::Client::connect(argc > 1 ? argv[1] : "local:");
  if (!client) return std::cerr << client.error().message << '\n', 69;
  asio::io_context context;
  for (int worker = 1; worker <= 3; ++worker) {
    asio::co_spawn(context, work(*client, worker), asio::detached);
  }
  context.run();
}
