#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace holdfast {

void assertion_failed(const char* condition, const char* file, int line) noexcept {
  std::fprintf(stderr, "holdfast: broken invariant: %s (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace holdfast
