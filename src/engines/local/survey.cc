#include "engines/local/survey.h"

#include <cstdint>
#include <optional>

#include "engines/local/layout.h"
#include "engines/local/lifeline.h"
#include "engines/local/state_file.h"

namespace holdfast::local {
namespace {

class Surveyor {
 public:
  explicit Surveyor(StateFile& file)
      : file_{file},
        end_{file.header().end_bytes.load()},
        steps_left_{2 * end_ / kUnit + kBuckets},
        now_{BootClock::now()} {}

  Survey run() {
    if (end_ < kHeapBegin || end_ > file_.header().file_bytes.load()) return Survey::damaged;
    Survey found = Survey::idle;
    for (std::size_t i = 0; i < kBuckets; ++i) {
      const Survey bucket = visit_bucket(Versioned{file_.bucket(i).load()}.ref());
      if (bucket == Survey::damaged) return bucket;
      if (bucket == Survey::occupied) found = bucket;
    }
    return found;
  }

 private:
  bool in_heap(Ref ref, std::size_t bytes) const {
    const std::uint64_t at = std::uint64_t{ref} * kUnit;
    return at >= kHeapBegin && at + bytes <= end_;
  }

  bool step() { return steps_left_-- > 0; }

  Survey visit_bucket(Ref ref) {
    Survey found = Survey::idle;
    for (; ref != 0; ref = file_.at<Chunk>(ref).next.load()) {
      if (!step() || !in_heap(ref, sizeof(Chunk))) return Survey::damaged;
      const Chunk& chunk = file_.at<Chunk>(ref);
      const std::uint32_t count = chunk.count.load();
      if (count > Chunk::kEntries) return Survey::damaged;
      for (std::uint32_t i = 0; i < count; ++i) {
        const Survey slot = visit_slot(Chunk::slot_of(chunk.entries[i].load()));
        if (slot == Survey::damaged) return slot;
        if (slot == Survey::occupied) found = slot;
      }
    }
    return found;
  }

  Survey visit_slot(Ref ref) {
    if (!step() || !in_heap(ref, sizeof(Slot))) return Survey::damaged;
    const Slot& slot = file_.at<Slot>(ref);
    if (!in_heap(ref, Slot::kHeadBytes + slot.name_bytes.load())) return Survey::damaged;
    const Ref head = Versioned{slot.head.load()}.ref();
    Survey found = Survey::idle;
    for (Ref at = head == Slot::kRetired ? 0 : head; at != 0;) {
      if (!step() || !in_heap(at, sizeof(Contender))) return Survey::damaged;
      Contender& contender = file_.at<Contender>(at);
      if (outlives_processes(contender)) found = Survey::occupied;
      at = Link{contender.link.load()}.ref();
    }
    return found;
  }

  bool outlives_processes(Contender& contender) const {
    if (Place{contender.place.load()}.mark() != Mark::none) return false;
    if (contender.lock_delay_ms.load() > 0) return true;
    const LifelineWord line = read(contender.lifeline);
    return Place{contender.place.load()}.detached() && !line.expired() && now_ < line.deadline();
  }

  StateFile& file_;
  std::uint64_t end_;
  std::uint64_t steps_left_;
  TimePoint now_;
};

}  // namespace

Survey survey(StateFile& file) { return Surveyor{file}.run(); }

}  // namespace holdfast::local
