// Counts what a program's locks do, writes every operation down, and leaves the times at the engine
// for `holdfast advise`. In place of the loop: your program.

#include <holdfast/lock_times.h>
#include <holdfast/metrics.h>

#include <iostream>

int main(int argc, char** argv) {
  auto plain = holdfast::Client::connect(argc > 1 ? argv[1] : "local:");
  if (!plain) return std::cerr << plain.error().message << '\n', 1;
  auto log = holdfast::json_log("/dev/stderr");
  if (!log) return std::cerr << log.error().message << '\n', 1;

  auto metrics = std::make_shared<holdfast::Metrics>();
  auto times = std::make_shared<holdfast::TimesRecorder>();
  auto client = observed(observed(observed(*plain, metrics), times), *log);

  for (int report = 0; report < 3; ++report) {
    auto lease = client.acquire("reports/daily");
    if (!lease) return std::cerr << lease.error().message << '\n', 1;
    std::cout << "report under token " << lease->token().value() << '\n';
  }

  if (auto left = times->flush(client); !left) std::cerr << left.error().message << '\n';
  std::cout << metrics->prometheus();
}
