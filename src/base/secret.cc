#include "base/secret.h"

#include <sys/random.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "base/assert.h"
#include "base/chacha.h"
#include "base/fork.h"

namespace holdfast {
namespace {

constexpr std::size_t kPoolBytes = sizeof(ChachaBlocks);

struct Pool {
  ChachaKey key{};
  std::uint32_t generation{0};
  std::size_t used{kPoolBytes};
  bool seeded{false};
  alignas(64) std::array<std::uint8_t, kPoolBytes> bytes{};
};

// Every batch begins with the key of the next one, so that no key is kept from which secrets that
// were handed out could be computed again.
void refill(Pool& pool) {
  const ChachaBlocks blocks = chacha20_blocks(pool.key);
  std::memcpy(pool.bytes.data(), &blocks, kPoolBytes);
  std::memcpy(pool.key.data(), pool.bytes.data(), sizeof pool.key);
  std::memset(pool.bytes.data(), 0, sizeof pool.key);
  pool.used = sizeof pool.key;
}

void seed(Pool& pool) {
  const ssize_t got = getrandom(pool.key.data(), sizeof pool.key, 0);
  HOLDFAST_ASSERT(got == static_cast<ssize_t>(sizeof pool.key));
  pool.generation = fork_generation();
  pool.seeded = true;
  pool.used = kPoolBytes;
}

}  // namespace

Owner fresh_owner() {
  thread_local Pool pool;
  if (!pool.seeded || pool.generation != fork_generation()) seed(pool);
  if (pool.used == kPoolBytes) refill(pool);
  Owner::Bytes bytes{};
  std::memcpy(bytes.data(), pool.bytes.data() + pool.used, bytes.size());
  // A secret handed out must not be recoverable from this process's memory later.
  std::memset(pool.bytes.data() + pool.used, 0, bytes.size());
  pool.used += bytes.size();
  return Owner{bytes};
}

}  // namespace holdfast
