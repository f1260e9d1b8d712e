// A job that every host starts, and that runs at most once in ten minutes.

#include <holdfast/interval.h>

#include <iostream>

int clean_up(holdfast::Client& client) {
  using namespace std::chrono_literals;
  auto run = holdfast::at_most_every(10min, client, {"cleanup"});
  if (!run && run.error().due_in) {
    std::cout << "not due for " << run.error().due_in->count() / 1000 << " s\n";
    return 0;
  }
  if (!run) return std::cerr << run.error().message << '\n', 75;
  std::cout << "cleaning up with token " << run->token().value() << '\n';
  return run->lease().ensure_held() ? 0 : 76;
}  // The lock is released here; the interval stays.

int main(int argc, char** argv) {
  auto client = holdfast::Client::connect(argc > 1 ? argv[1] : "local:");
  if (!client) return std::cerr << client.error().message << '\n', 69;
  const int first = clean_up(*client);
  return first != 0 ? first : clean_up(*client);
}
