#include "tests/crash/storm.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "engines/local/local_backend.h"

namespace holdfast::crash {
namespace {

constexpr std::uint64_t kLivesPerWorker = 1'000'000;

class Worker {
 public:
  Worker(Backend& backend, StormBoard& board, int worker)
      : backend_{backend},
        board_{board},
        life_{static_cast<std::uint64_t>(worker) * kLivesPerWorker +
              board.lives[worker].fetch_add(1) + 1},
        random_{life_ * 0x9e3779b97f4a7c15} {}

  [[noreturn]] void run() {
    while (true) {
      const auto lock = static_cast<std::size_t>(draw(kStormLocks));
      AcquireOptions options{.ttl = Millis{5'000}, .wait = Millis{draw(4) == 0 ? 0 : 10'000}};
      if (draw(8) == 0) options.label = "in the storm";
      auto lease = backend_.acquire("lock" + std::to_string(lock), options, {});
      if (lease) {
        work(board_.locks[lock], (*lease)->token().value());
        (*lease)->release();
      } else if (lease.error().code != Errc::busy) {
        board_.errors.fetch_add(1);
      }
    }
  }

 private:
  void work(StormBoard::Lock& lock, std::uint64_t token) {
    const std::uint64_t before = lock.inside.exchange(life_);
    if (before != 0 && !doomed(before)) board_.overlaps.fetch_add(1);
    if (lock.newest_token.exchange(token) >= token) board_.tokens_not_rising.fetch_add(1);
    lock.entries.fetch_add(1);
    for (std::uint64_t i = draw(200); i > 0; --i) random_ += i;
    std::uint64_t self = life_;
    if (!lock.inside.compare_exchange_strong(self, 0)) board_.overlaps.fetch_add(1);
  }
  // A life the test has killed may have been inside when it ended.
  bool doomed(std::uint64_t life) const {
    return board_.doomed[life / kLivesPerWorker].load() >= life;
  }
  std::uint64_t draw(std::uint64_t bound) {
    random_ ^= random_ << 13, random_ ^= random_ >> 7, random_ ^= random_ << 17;
    return random_ % bound;
  }

  Backend& backend_;
  StormBoard& board_;
  std::uint64_t life_;
  std::uint64_t random_;
};

}  // namespace

StormBoard* map_board(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || ftruncate(fd, sizeof(StormBoard)) != 0) std::abort();
  void* board = mmap(nullptr, sizeof(StormBoard), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (board == MAP_FAILED) std::abort();
  return static_cast<StormBoard*>(board);
}

int run_storm_worker(const std::string& directory, const std::string& board, int worker) {
  auto backend = local::open_backend(directory);
  if (!backend) return 4;
  Worker{**backend, *map_board(board), worker}.run();
}

}  // namespace holdfast::crash
