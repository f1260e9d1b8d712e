// Observing one lock: sleeps until something changed at the engine, and looks at the lock.

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engines/local/futex.h"
#include "engines/local/local_backend.h"

namespace holdfast::local {
namespace {

using namespace std::chrono_literals;

/// Leases that run out make no noise.
constexpr Millis kLook = 500ms;

using Holders = std::vector<std::pair<std::string, Token>>;

Holders holders_of(const LockInfo& lock) {
  Holders holders;
  for (const auto& holder : lock.holders) holders.emplace_back(holder.owner_fp, holder.token);
  return holders;
}

class LocalObservation final : public LockObservation {
 public:
  LocalObservation(std::shared_ptr<LocalBackend> backend, std::string_view name)
      : backend_{std::move(backend)}, name_{name} {}

  ~LocalObservation() override {
    if (backend_->forked()) {
      thread_.abandon();
      return;
    }
    end_.request_stop();
  }

  void next(std::stop_token stop, std::function<void(Result<LockInfo>)> callback) override {
    if (auto usable = backend_->usable(); !usable) return callback(Unexpected{usable.error()});
    thread_.post([this, stop = std::move(stop), callback = std::move(callback)] {
      callback(look_until_news(stop));
    });
  }

 private:
  Result<LockInfo> look_until_news(const std::stop_token& stop) {
    std::atomic<std::uint32_t> stopped{0};
    const auto wake = [&] {
      stopped.store(1);
      futex_wake(stopped, 1);
    };
    const std::stop_callback on_stop{stop, wake};
    const std::stop_callback on_end{end_.get_token(), wake};
    Engine& engine = backend_->protocol();
    while (stopped.load() == 0) {
      if (auto usable = backend_->usable(); !usable) return Unexpected{usable.error()};
      const TimePoint now = BootClock::now();
      engine.keep_watching(now + 2 * kLook);
      const std::uint32_t changes = engine.header().changes.load();
      LockInfo lock = engine.inspect(name_, now);
      Holders holders = holders_of(lock);
      if (told_ != holders) {
        told_ = std::move(holders);
        return lock;
      }
      const std::array words{FutexWait{.word = &engine.header().changes, .expected = changes},
                             FutexWait{.word = &stopped, .expected = 0}};
      futex_wait_any(words, now + kLook);
    }
    return Unexpected{Error{Errc::cancelled, "observing the lock was cancelled"}};
  }

  std::shared_ptr<LocalBackend> backend_;
  std::string name_;
  std::optional<Holders> told_;
  std::stop_source end_;
  /// Last: what runs there uses the others, and has ended when it is gone.
  Dispatcher thread_;
};

}  // namespace

std::shared_ptr<LockObservation> LocalBackend::observe(std::string_view name) {
  return std::make_shared<LocalObservation>(shared_from_this(), name);
}

}  // namespace holdfast::local
