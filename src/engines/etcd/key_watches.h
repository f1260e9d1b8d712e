// KeyWatches: tells when keys are erased, by one watch for all who want to know of the same.
//
// Thread safety: as Env. Lifetime: the Env outlives it; listeners may outlive it.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/alarm.h"
#include "base/env.h"
#include "engines/etcd/etcd_port.h"

namespace holdfast::etcd {

/// What for. Whether news of another's key was lost is looked at now and then.
enum class Interest : std::uint8_t { own_key, others };

class KeyWatches : public std::enable_shared_from_this<KeyWatches> {
 public:
  /// The key that was erased; null: look for yourself, something may have been missed.
  using Heard = std::function<void(const std::string* erased)>;

  /// Ends with it: nothing is heard any more.
  class Listening {
   public:
    Listening() = default;
    Listening(Listening&& other) noexcept;
    Listening& operator=(Listening&& other) noexcept;
    ~Listening() { end(); }

    explicit operator bool() const { return number_ != 0; }

   private:
    friend class KeyWatches;
    void end() noexcept;

    std::weak_ptr<KeyWatches> watches_;
    std::pair<std::string, std::string> range_;
    std::uint64_t number_{0};
  };

  KeyWatches(Env& env, std::shared_ptr<EtcdPort> port, Millis look_again);
  ~KeyWatches();
  KeyWatches(const KeyWatches&) = delete;
  KeyWatches& operator=(const KeyWatches&) = delete;

  /// From the first change after `since` on. Calls back between tasks, never inside this call.
  [[nodiscard]] Listening listen(KeyRange keys, Revision since, Interest interest, Heard heard);

 private:
  using Span = std::pair<std::string, std::string>;
  struct Listener {
    Revision since{0};
    std::shared_ptr<Heard> heard;
  };
  struct Ear {
    WatchId watch{};
    Interest interest{Interest::own_key};
    /// What happens after this is heard. Zero: the watch has not begun.
    Revision begun{0};
    /// Of the last erasure that was heard.
    Revision latest{0};
    std::map<std::uint64_t, Listener> listeners{};
  };

  void hear(const Span& range, const WatchNews& news);
  void begin(const Span& range, Revision revision);
  void pass_on(const Span& range, const std::string* key, Revision when);
  void stop(const Span& range, std::uint64_t number);

  TimePoint look_at_others();
  static Task<void> keep_looking(std::weak_ptr<KeyWatches> weak, std::shared_ptr<Alarm> changed);
  static Task<void> look_at(std::shared_ptr<KeyWatches> self, std::vector<Span> ranges);

  Env& env_;
  std::shared_ptr<EtcdPort> port_;
  Millis look_again_;
  std::map<Span, Ear> ears_;
  std::uint64_t last_number_{0};
  TimePoint look_at_{TimePoint::max()};
  bool looking_{false};
  std::shared_ptr<Alarm> changed_;
};

}  // namespace holdfast::etcd
