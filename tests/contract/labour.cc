#include "tests/contract/labour.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <mutex>
#include <thread>

namespace holdfast::contract {
namespace {

struct Ledger {
  std::uint64_t count{0};
  std::uint64_t token{0};
};

Ledger read_ledger(const std::string& file) {
  Ledger ledger;
  std::ifstream{file} >> ledger.count >> ledger.token;
  return ledger;
}

/// Reads, thinks and writes, which loses updates as soon as two do it at once.
std::string critical_section(const std::string& file, Token token) {
  const std::string inside = file + ".inside";
  const int marker = open(inside.c_str(), O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (marker < 0) return errno == EEXIST ? "somebody else is inside" : std::strerror(errno);
  close(marker);
  const Ledger before = read_ledger(file);
  std::this_thread::yield();
  std::ofstream{file} << before.count + 1 << ' ' << token.value();
  unlink(inside.c_str());
  return token.value() > before.token ? "" : "the token did not rise";
}

std::string take_turn(const std::string& file, Result<Lease, AcquireError>& lease) {
  if (!lease) return lease.error().message;
  std::string wrong = critical_section(file, lease->token());
  if (lease->release() != ReleaseOutcome::released) return "the release failed";
  return wrong;
}

/// Collects how the turns went.
class Tally {
 public:
  void add(const std::string& wrong) {
    const std::lock_guard guard{guard_};
    ++turns_;
    if (wrong_.empty()) wrong_ = wrong;
    changed_.notify_all();
  }

  Fields wait_for(std::int64_t turns) {
    std::unique_lock guard{guard_};
    changed_.wait(guard, [&] { return turns_ >= turns; });
    return {wrong_.empty() ? "done" : wrong_, std::to_string(turns_)};
  }

 private:
  std::mutex guard_;
  std::condition_variable changed_;
  std::int64_t turns_{0};
  std::string wrong_;
};

Fields count(Client& client, const std::string& name, const std::string& file, std::int64_t turns) {
  Tally tally;
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    auto lease = client.acquire(name);
    tally.add(take_turn(file, lease));
  }
  return tally.wait_for(turns);
}

Fields crowd(Client& client, const std::string& name, const std::string& file, std::int64_t size) {
  Tally tally;
  std::vector<std::thread> threads;
  for (std::int64_t i = 0; i < size; ++i) {
    threads.emplace_back([&] {
      auto lease = client.acquire(name);
      tally.add(take_turn(file, lease));
    });
  }
  for (std::thread& thread : threads) thread.join();
  return tally.wait_for(size);
}

Fields line(Client& client, const std::string& name, const std::string& file, std::int64_t size) {
  auto tally = std::make_shared<Tally>();
  auto served = std::make_shared<std::atomic<std::int64_t>>(0);
  for (std::int64_t place = 0; place < size; ++place) {
    client.async_acquire(name, {}, {}, [=](Result<Lease, AcquireError> lease) {
      const bool in_turn = served->fetch_add(1) == place;
      if (!lease) return tally->add(lease.error().message);
      const std::string wrong = critical_section(file, lease->token());
      lease->async_release([=](ReleaseOutcome outcome) {
        const bool released = outcome == ReleaseOutcome::released;
        tally->add(!in_turn ? "served out of turn" : released ? wrong : "the release failed");
      });
    });
  }
  return tally->wait_for(size);
}

}  // namespace

Fields labour(Client& client, const Fields& command) {
  const std::string& verb = command.at(1);
  const auto work = verb == "count" ? count : verb == "crowd" ? crowd : line;
  return work(client, command.at(2), command.at(3), to_number(command.at(4)));
}

std::uint64_t read_count(const std::string& file) { return read_ledger(file).count; }

}  // namespace holdfast::contract
