// LuaArena: memory for one Lua state, which asks for little pieces all the time.
//
// Pieces that Lua gave back are handed out again, by size; nothing returns to the system before the
// arena goes.
//
// Thread safety: none. Lifetime: outlives the state.

#pragma once

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace holdfast::sim {

class LuaArena {
 public:
  /// As lua_Alloc; `arena` is the LuaArena.
  static void* allocate(void* arena, void* piece, std::size_t old_size, std::size_t size) {
    LuaArena& self = *static_cast<LuaArena*>(arena);
    if (size > kSmallMax && (piece == nullptr || old_size > kSmallMax)) {
      return std::realloc(piece, size);
    }
    if (piece != nullptr && class_of(old_size) == class_of(size) && size != 0) return piece;
    void* const moved = size == 0 ? nullptr : self.take(size);
    if (piece == nullptr) return moved;
    if (moved != nullptr) std::memcpy(moved, piece, old_size < size ? old_size : size);
    self.give_back(piece, old_size);
    return moved;
  }

 private:
  static constexpr std::size_t kStep = 16;
  static constexpr std::size_t kSmallMax = 256;
  static constexpr std::size_t kBlock = 65536;
  struct Free {
    Free* next;
  };
  using Block = std::array<std::byte, kBlock>;

  static std::size_t class_of(std::size_t size) { return (size + kStep - 1) / kStep; }

  void* take(std::size_t size) {
    if (size > kSmallMax) return std::malloc(size);
    Free*& free = free_[class_of(size)];
    if (free != nullptr) return std::exchange(free, free->next);
    const std::size_t length = class_of(size) * kStep;
    if (blocks_.empty() || used_ + length > kBlock) {
      blocks_.push_back(std::make_unique_for_overwrite<Block>());
      used_ = 0;
    }
    return blocks_.back()->data() + std::exchange(used_, used_ + length);
  }

  void give_back(void* piece, std::size_t size) {
    if (size > kSmallMax) return std::free(piece);
    Free*& free = free_[class_of(size)];
    free = ::new (piece) Free{free};
  }

  std::array<Free*, kSmallMax / kStep + 1> free_{};
  std::vector<std::unique_ptr<Block>> blocks_;
  std::size_t used_{0};
};

}  // namespace holdfast::sim
