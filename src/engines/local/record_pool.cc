#include "engines/local/record_pool.h"

#include <algorithm>
#include <unordered_map>

#include "base/fork.h"
#include "engines/local/note.h"
#include "engines/local/pool.h"

namespace holdfast::local {
namespace {

// The pools of this process, by id. Ids are never used twice.
struct Registry {
  struct Entry {
    RecordPool* pool;
    std::uint32_t generation;
  };

  std::mutex mutex;
  std::uint64_t last_id{0};
  std::unordered_map<std::uint64_t, Entry> pools;
};

Registry& registry() {
  static auto* const instance = new Registry;
  return *instance;
}

std::uint64_t enrol(RecordPool* pool) {
  Registry& all = registry();
  const std::lock_guard lock{all.mutex};
  all.pools.emplace(++all.last_id, Registry::Entry{pool, fork_generation()});
  return all.last_id;
}

}  // namespace

ThreadRecord::~ThreadRecord() { RecordPool::give_back(*this); }

RecordPool::RecordPool(StateFile& file, Ref member)
    : id_{enrol(this)}, file_{file}, member_{member} {}

RecordPool::~RecordPool() {
  Registry& all = registry();
  const std::lock_guard lock{all.mutex};
  all.pools.erase(id_);
}

void RecordPool::give_back(ThreadRecord& kept) {
  const Ref record = std::exchange(kept.record, 0);
  if (record == 0) return;
  Registry& all = registry();
  const std::lock_guard lock{all.mutex};
  const auto found = all.pools.find(kept.pool);
  // A forked child has no part in its parent's records.
  if (found == all.pools.end() || found->second.generation != fork_generation()) return;
  found->second.pool->give_shared(record);
}

void RecordPool::give_later(Ref record) {
  const std::lock_guard lock{mutex_};
  leaving_.push_back(record);
}

// Requires: mutex_ is held.
void RecordPool::collect() {
  std::erase_if(leaving_, [&](Ref record) {
    Contender& contender = file_.at<Contender>(record);
    if (Place{contender.place.load()}.in_use()) return false;
    free_note(file_, contender.note.exchange(0));
    give_shared(record);
    return true;
  });
}

Result<Ref> RecordPool::take_slowly() {
  {
    const std::lock_guard lock{mutex_};
    collect();
  }
  if (Versioned{free_.load()}.ref() != 0) return take_shared();
  const auto ref = allocate(file_, Kind::block);
  if (!ref) return ref;
  Block& block = file_.at<Block>(*ref);
  auto& blocks = file_.at<Member>(member_).blocks;
  Ref first = blocks.load();
  // Known to the member before any of it is used: if this process dies, whoever buries it finds
  // them.
  do {
    block.next.store(first);
  } while (!blocks.compare_exchange_weak(first, *ref));
  for (std::size_t i = 1; i < Block::kContenders; ++i)
    give_shared(file_.ref_of(&block.contenders[i]));
  return begin_use(file_.ref_of(&block.contenders[0]));
}

}  // namespace holdfast::local
