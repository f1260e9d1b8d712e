#include "bench/hand_over.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <optional>
#include <thread>

#include "bench/scratch.h"
#include "holdfast/client.h"

namespace holdfast::bench {
namespace {

constexpr int kSamples = 3'000;
constexpr int kWarmUp = 200;

// What the two processes share. The giver holds the lock; the receiver announces that it is about
// to block on it, and notes when it has it.
struct Stage {
  pthread_mutex_t mutex;
  std::atomic<int> asked;
  std::atomic<int> had;
  /// How often the giver has taken back what it gave; before it has anything, -1.
  std::atomic<int> given{-1};
  std::atomic<std::int64_t> had_at_ns;
};

std::int64_t now_ns() { return BootClock::now().time_since_epoch().count(); }

void wait_for(const std::atomic<int>& word, int value) {
  while (word.load() < value) std::this_thread::yield();
}

// Whether the process's first thread sleeps: only then is a hand-over a wake-up.
bool asleep(pid_t pid) {
  std::ifstream stat{"/proc/" + std::to_string(pid) + "/stat"};
  std::string text;
  std::getline(stat, text);
  const auto name_end = text.rfind(')');
  return name_end != std::string::npos && text.compare(name_end, 3, ") S") == 0;
}

struct Taker {
  std::function<void()> take;
  std::function<void()> give;
};

Taker by_holdfast(Client& client, std::optional<Lease>& lease) {
  return {.take = [&] { lease.emplace(*client.acquire("turn")); },
          .give = [&] { lease->release(); }};
}

Taker by_mutex(Stage& stage) {
  return {.take = [&] { pthread_mutex_lock(&stage.mutex); },
          .give = [&] { pthread_mutex_unlock(&stage.mutex); }};
}

[[noreturn]] void receive(Stage& stage, const std::string& directory) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto client = Client::connect("local:" + directory);
  if (!client) _exit(1);
  std::optional<Lease> lease;
  const std::array takers{by_holdfast(*client, lease), by_mutex(stage)};
  for (int n = 1; n <= 2 * kSamples; ++n) {
    const Taker& taker = takers[static_cast<std::size_t>(n % 2)];
    wait_for(stage.given, n - 1);
    stage.asked.store(n);
    taker.take();
    stage.had_at_ns.store(now_ns());
    stage.had.store(n);
    taker.give();
  }
  _exit(0);
}

HandOver give(Stage& stage, Client& client, pid_t receiver) {
  std::optional<Lease> lease;
  const std::array takers{by_holdfast(client, lease), by_mutex(stage)};
  std::array<std::vector<double>, 2> samples;
  for (const Taker& taker : takers) taker.take();
  stage.given.store(0);
  for (int n = 1; n <= 2 * kSamples; ++n) {
    const auto which = static_cast<std::size_t>(n % 2);
    wait_for(stage.asked, n);
    while (!asleep(receiver)) std::this_thread::yield();
    const std::int64_t gave_at = now_ns();
    takers[which].give();
    wait_for(stage.had, n);
    if (n > 2 * kWarmUp) {
      samples[which].push_back(static_cast<double>(stage.had_at_ns.load() - gave_at));
    }
    takers[which].take();
    stage.given.store(n);
  }
  return {.holdfast = summarise(std::move(samples[0])),
          .robust_mutex = summarise(std::move(samples[1]))};
}

Stage* make_stage() {
  void* memory =
      mmap(nullptr, sizeof(Stage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* stage = new (memory) Stage{};
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&stage->mutex, &attributes);
  return stage;
}

}  // namespace

Result<HandOver> time_hand_over() {
  const Scratch scratch;
  Stage* stage = make_stage();
  if (stage == nullptr || scratch.path().empty()) {
    return Unexpected{Error{Errc::io_error, "cannot make room for the hand-over benchmark"}};
  }
  const pid_t receiver = fork();
  if (receiver == 0) receive(*stage, scratch.path());
  if (receiver < 0) {
    return Unexpected{Error{Errc::io_error, std::string{"cannot fork: "} + std::strerror(errno)}};
  }
  auto client = Client::connect("local:" + scratch.path());
  if (!client) return Unexpected{client.error()};
  const HandOver result = give(*stage, *client, receiver);
  waitpid(receiver, nullptr, 0);
  munmap(stage, sizeof(Stage));
  return result;
}

}  // namespace holdfast::bench
