// Not more often than that, with every process that uses the key.

#include <chrono>
#include <cstdio>
#include <string>

#include "holdfast/client.h"
#include "holdfast/rate_limit.h"

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  const std::string url = argc > 1 ? argv[1] : "local:";
  auto limiter = holdfast::RateLimiter::connect(url);
  if (!limiter) {
    std::fprintf(stderr, "%s\n", limiter.error().message.c_str());
    return 1;
  }

  // Ten a second in the long run, three of them at once. One key for each user.
  const holdfast::RateLimit limit{.rate = holdfast::Rate::per_second(10), .burst = 3};
  int served = 0;
  for (int i = 0; i < 5; ++i) {
    const auto taken = limiter->take("user/42", limit);
    // Without an answer: serve, or refuse? That is this program's to decide.
    if (!taken) return 1;
    if (taken->allowed) ++served;
    // Otherwise 429, with Retry-After: taken->retry_after
  }

  // A job that can wait is served when its turn comes.
  const auto later = limiter->take("user/42", limit, {.wait = 2s});
  if (!later || !later->allowed) return 1;
  const auto waited = std::chrono::ceil<std::chrono::milliseconds>(later->delay).count();
  std::printf(
      "%d of 5 went at once, the 4th after %lld ms\n", served, static_cast<long long>(waited));
}
