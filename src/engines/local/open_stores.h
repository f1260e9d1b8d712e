// The stores this process has open, so that fork() finds them at rest and the child lets go of
// them.
//
// SQLite keeps what it has locked in the process's memory, where a child finds its parent's locks
// as if they were its own. Before the child opens a store, the inherited ones must be closed; and
// that can be done only if none was at work when the process was forked.
//
// Thread safety: any thread.

#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

namespace holdfast::local {

class OpenStores {
 public:
  class Member {
   public:
    virtual ~Member() = default;
    /// Waits until no operation is under way; none begins before resume().
    virtual void rest() = 0;
    virtual void resume() = 0;
    /// In a forked child: closes the file, and leaves it as it is.
    virtual void let_go() = 0;
  };

  /// The one of this process.
  static OpenStores& instance();

  /// Nobody forks, opens or closes while this is held; and nothing inherited is open.
  [[nodiscard]] std::unique_lock<std::mutex> enter();

  // Within enter().
  void add(Member& store) { members_.push_back(&store); }
  void remove(Member& store) { std::erase(members_, &store); }

 private:
  OpenStores();

  void before_fork();
  void after_fork();

  std::mutex mutex_;
  std::vector<Member*> members_;
  /// fork_generation() of the process that opened the members.
  std::uint32_t generation_;
};

}  // namespace holdfast::local
