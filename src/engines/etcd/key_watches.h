// KeyWatches: tells when keys are erased, by one watch for all who want to know of the same.
//
// A watch that was interrupted may have missed something for good: keys that were erased at the
// very revision to which the history was compacted, or that are not in a backup that was restored.
// So what it watches is looked at when it goes on, many keys with one request.
//
// Thread safety: as Env. Lifetime: the Env outlives it; listeners may outlive it.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/alarm.h"
#include "base/env.h"
#include "engines/etcd/etcd_port.h"

namespace holdfast::etcd {

/// What for. Whether news of another's key was lost is looked at now and then.
enum class Interest : std::uint8_t { own_key, others };

/// What is heard of keys. Neither: look for yourself, something may have been missed.
struct KeyNews {
  /// This one was erased.
  const std::string* erased{nullptr};
  /// Of many keys that are listened to together: these are there, and no others.
  const std::set<std::string>* there{nullptr};
};

class KeyWatches : public std::enable_shared_from_this<KeyWatches> {
 public:
  /// What it is told of does not outlast the call.
  using Heard = std::function<void(const KeyNews& news)>;

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
    /// The server has told that it watches, or that it could not from there on.
    bool answered{false};
    /// Of the last erasure that was heard.
    Revision latest{0};
    std::map<std::uint64_t, Listener> listeners{};
  };

  void hear(const Span& range, const WatchNews& news);
  void begin(const Span& range, Revision revision);
  void go_on(const Span& range);
  void pass_on(const Span& range, const KeyNews& news, Revision when);
  void stop(const Span& range, std::uint64_t number);

  TimePoint look_at_others();
  static Task<void> keep_looking(std::weak_ptr<KeyWatches> weak, std::shared_ptr<Alarm> changed);
  static Task<void> catch_up(std::shared_ptr<KeyWatches> self);
  static Task<void> look_at(std::shared_ptr<KeyWatches> self, std::vector<Span> ranges);
  /// Failures: as EtcdPort::commit().
  Task<Result<void>> look(std::vector<Span> ranges);
  void judge(const Span& range, const OperationAnswer& found, Revision when);

  Env& env_;
  std::shared_ptr<EtcdPort> port_;
  Millis look_again_;
  std::map<Span, Ear> ears_;
  std::uint64_t last_number_{0};
  TimePoint look_at_{TimePoint::max()};
  bool looking_{false};
  std::shared_ptr<Alarm> changed_;
  /// Watched again after an interruption, and not looked at yet.
  std::set<Span> interrupted_;
  bool catching_up_{false};
};

}  // namespace holdfast::etcd
