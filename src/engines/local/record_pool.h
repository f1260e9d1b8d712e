// This process's contender records: a stack of free ones, and those that have left a queue but may
// still be on its list.
//
// Thread safety: any thread of this process.

#pragma once

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "engines/local/layout.h"
#include "engines/local/state_file.h"
#include "holdfast/result.h"

namespace holdfast::local {

class RecordPool;

/// The record a thread used last, kept for its next use: spares an uncontended acquire two atomic
/// operations. Goes back to its pool when the thread ends.
struct ThreadRecord {
  std::uint64_t pool{0};
  Ref record{0};
  std::uint32_t generation{0};

  ThreadRecord() = default;
  ~ThreadRecord();
  ThreadRecord(const ThreadRecord&) = delete;
  ThreadRecord& operator=(const ThreadRecord&) = delete;
};

class RecordPool {
 public:
  RecordPool(StateFile& file, Ref member);
  ~RecordPool();
  RecordPool(const RecordPool&) = delete;
  RecordPool& operator=(const RecordPool&) = delete;

  /// A record nobody else uses, its place begun anew. no_space, io_error: the file cannot grow.
  Result<Ref> take() {
    ThreadRecord& kept = thread_record();
    if (kept.pool == id_ && kept.record != 0) return begin_use(std::exchange(kept.record, 0));
    return take_shared();
  }

  /// The record is off every list.
  void give(Ref record) {
    ThreadRecord& kept = thread_record();
    if (kept.pool != id_ && kept.record != 0) give_back(kept);
    if (kept.record != 0) return give_shared(record);
    kept.pool = id_;
    kept.generation = generation_;
    kept.record = record;
  }

  /// The record is marked; somebody's walk will hand it back.
  void give_later(Ref record);

  /// Returns what a thread kept to its pool, if that is still there.
  static void give_back(ThreadRecord& kept);

 private:
  static ThreadRecord& thread_record() {
    thread_local ThreadRecord kept;
    return kept;
  }

  Result<Ref> take_shared() {
    Versioned head{free_.load(std::memory_order_acquire)};
    while (head.ref() != 0) {
      const Ref next = file_.at<Contender>(head.ref()).next_free.load(std::memory_order_relaxed);
      if (free_.compare_exchange_weak(head.raw, head.next(next).raw)) {
        return begin_use(head.ref());
      }
    }
    return take_slowly();
  }

  void give_shared(Ref record) {
    Versioned head{free_.load(std::memory_order_relaxed)};
    do {
      file_.at<Contender>(record).next_free.store(head.ref(), std::memory_order_relaxed);
    } while (!free_.compare_exchange_weak(head.raw, head.next(record).raw));
  }

  Ref begin_use(Ref record) {
    auto& place = file_.at<Contender>(record).place;
    place.store(Place{place.load(std::memory_order_relaxed)}.next_use().raw,
                std::memory_order_release);
    return record;
  }
  Result<Ref> take_slowly();
  void collect();

  const std::uint64_t id_;
  const std::uint32_t generation_;
  StateFile& file_;
  Ref member_;
  std::atomic<std::uint64_t> free_{0};
  std::mutex mutex_;
  std::vector<Ref> leaving_;
};

}  // namespace holdfast::local
