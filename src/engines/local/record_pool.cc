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
  std::mutex mutex;
  std::uint64_t last_id{0};
  std::unordered_map<std::uint64_t, RecordPool*> pools;
};

Registry& registry() {
  static auto* const instance = new Registry;
  return *instance;
}

std::uint64_t enrol(RecordPool* pool) {
  Registry& all = registry();
  const std::lock_guard lock{all.mutex};
  all.pools.emplace(++all.last_id, pool);
  return all.last_id;
}

}  // namespace

ThreadRecord::~ThreadRecord() { RecordPool::give_back(*this); }

RecordPool::RecordPool(StateFile& file, Ref member)
    : id_{enrol(this)}, generation_{fork_generation()}, file_{file}, member_{member} {}

RecordPool::~RecordPool() {
  Registry& all = registry();
  const std::lock_guard lock{all.mutex};
  all.pools.erase(id_);
}

void RecordPool::give_back(ThreadRecord& kept) {
  const Ref record = std::exchange(kept.record, 0);
  // A forked child has no part in its parent's records, nor in the mutex of their registry.
  if (record == 0 || kept.generation != fork_generation()) return;
  Registry& all = registry();
  const std::lock_guard lock{all.mutex};
  const auto found = all.pools.find(kept.pool);
  if (found != all.pools.end()) found->second->give_shared(record);
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
