// Redlock nodes of a test's own, some of them in trouble.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "holdfast/clock.h"
#include "tests/ports/redis_process.h"

namespace holdfast::contract {

/// What becomes of some nodes once the set is founded.
struct Trouble {
  std::size_t down{0};
  std::size_t hung{0};
  /// Answer what no Redis server says.
  std::size_t raving{0};
};

/// Thread safety: none. Throws when the set cannot be founded.
class RedlockNodes {
 public:
  RedlockNodes(std::size_t count, const Trouble& trouble);
  ~RedlockNodes();

  const std::string& url() const { return url_; }

 private:
  struct Raving;

  std::vector<std::unique_ptr<ports::RedisProcess>> nodes_;
  std::vector<std::unique_ptr<Raving>> raving_;
  std::string url_;
};

}  // namespace holdfast::contract
