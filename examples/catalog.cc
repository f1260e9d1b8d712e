// A reader that finds it has to write: nobody else writes in between. At most two at a time do it.

#include <holdfast/read_write.h>
#include <holdfast/semaphore.h>

#include <iostream>

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  auto client = holdfast::Client::connect(argc > 1 ? argv[1] : "local:");
  if (!client) return std::cerr << client.error().message << '\n', 69;
  holdfast::Semaphore visitors{*client, "visitors", 2};
  auto visit = visitors.acquire(5s);
  if (!visit) return std::cerr << visit.error().message << '\n', 75;

  holdfast::ReadWriteLock catalog{*client, "catalog"};
  auto reader = catalog.read(5s);
  if (!reader) return std::cerr << reader.error().message << '\n', 75;
  std::cout << "reading with token " << reader->token().value() << '\n';
  auto writer = catalog.upgrade(*reader, 5s);
  if (!writer) return std::cerr << writer.error().message << '\n', 75;
  std::cout << "writing with token " << writer->token().value() << '\n';
  auto again = catalog.downgrade(std::move(*writer));
  if (!again) return std::cerr << again.error().message << '\n', 75;
  std::cout << "reading again with token " << again->token().value() << '\n';
  return again->ensure_held() ? 0 : 76;
}
