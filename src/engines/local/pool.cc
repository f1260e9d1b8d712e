#include "engines/local/pool.h"

#include <bit>

#include "base/assert.h"

namespace holdfast::local {
namespace {

// Where each kind keeps the link of its free list: never in a word that is versioned or that a
// reader who comes late relies on.
std::atomic<Ref>& next_free(StateFile& file, Kind kind, Ref ref) {
  switch (kind) {
    case Kind::chunk:
      return file.at<Chunk>(ref).next;
    case Kind::session:
      return file.at<Session>(ref).next;
    case Kind::member:
      return file.at<Member>(ref).next;
    case Kind::block:
      return file.at<Block>(ref).next;
    case Kind::commons:
      return file.at<Contender>(ref).next_free;
    case Kind::slot_1:
    case Kind::slot_2:
    case Kind::slot_4:
    case Kind::slot_8:
    case Kind::slot_16:
      return file.at<Slot>(ref).next_free;
    default:
      return file.at<Note>(ref).next_free;
  }
}

Kind kind_for(Kind smallest, std::size_t bytes) {
  const auto units = static_cast<std::uint32_t>((bytes + kUnit - 1) / kUnit);
  const auto order = static_cast<std::uint32_t>(std::bit_width(std::bit_ceil(units)) - 1);
  return static_cast<Kind>(static_cast<std::uint32_t>(smallest) + order);
}

Result<Ref> take_fresh(StateFile& file, std::uint32_t units) {
  auto& end = file.header().end_bytes;
  std::uint64_t begin = end.load();
  while (true) {
    const std::uint64_t next = begin + std::uint64_t{units} * kUnit;
    if (auto grown = file.grow_to(next); !grown) return Unexpected{grown.error()};
    if (end.compare_exchange_weak(begin, next)) return static_cast<Ref>(begin / kUnit);
  }
}

}  // namespace

std::uint32_t units_of(Kind kind) {
  switch (kind) {
    case Kind::chunk:
      return sizeof(Chunk) / kUnit;
    case Kind::session:
      return sizeof(Session) / kUnit;
    case Kind::member:
      return sizeof(Member) / kUnit;
    case Kind::block:
      return sizeof(Block) / kUnit;
    case Kind::commons:
      return sizeof(Contender) / kUnit;
    default:
      break;
  }
  const bool slot = kind < Kind::note_1;
  const auto smallest = slot ? Kind::slot_1 : Kind::note_1;
  return 1U << (static_cast<std::uint32_t>(kind) - static_cast<std::uint32_t>(smallest));
}

Kind slot_kind(std::size_t name_bytes) {
  return kind_for(Kind::slot_1, Slot::kHeadBytes + name_bytes);
}

Kind note_kind(std::size_t text_bytes) {
  return kind_for(Kind::note_1, Note::kHeadBytes + text_bytes);
}

Result<Ref> allocate(StateFile& file, Kind kind) {
  auto& list = file.header().free_lists[static_cast<std::size_t>(kind)];
  Versioned head{list.load()};
  while (head.ref() != 0) {
    const Versioned next = head.next(next_free(file, kind, head.ref()).load());
    if (list.compare_exchange_weak(head.raw, next.raw)) return head.ref();
  }
  return take_fresh(file, units_of(kind));
}

void recycle(StateFile& file, Kind kind, Ref ref) {
  HOLDFAST_ASSERT(ref != 0);
  auto& list = file.header().free_lists[static_cast<std::size_t>(kind)];
  Versioned head{list.load()};
  do {
    next_free(file, kind, ref).store(head.ref());
  } while (!list.compare_exchange_weak(head.raw, head.next(ref).raw));
}

}  // namespace holdfast::local
