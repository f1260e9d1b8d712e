// What many leases and waiting calls cost while nothing changes.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/report.h"
#include "holdfast/client.h"

namespace holdfast::bench {

inline constexpr int kWaiters = 1'000;
inline constexpr int kHeld = 10'000;

/// A case in requests: as good as the limit when there are no more of them.
Case load_case(std::string name, double requests, std::string limit_name, double limit);

/// The same in threads that came since `before`.
Case threads_case(double before);
double threads_here();

std::string held_name(int number);

/// Takes the first `count` locks, many at a time.
void take(Client& client, int count, const AcquireOptions& options, std::vector<Lease>& leases);

/// Calls that wait for the locks of take(), until it goes.
class Waiters {
 public:
  Waiters(Client& client, Millis ttl);
  ~Waiters();
  Waiters(const Waiters&) = delete;
  Waiters& operator=(const Waiters&) = delete;

 private:
  struct Calls;
  std::shared_ptr<Calls> calls_;
};

}  // namespace holdfast::bench
