// Work: something to do once, later. Small callables live inside it, without an allocation.

#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace holdfast {

/// Move-only. Thread safety: none.
class Work {
 public:
  Work() = default;

  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, Work>) Work(F&& callable) {
    using Held = std::remove_cvref_t<F>;
    if constexpr (sizeof(Held) <= kRoom && alignof(Held) <= alignof(std::max_align_t) &&
                  std::is_nothrow_move_constructible_v<Held>) {
      ::new (room_) Held{std::forward<F>(callable)};
      handlers_ = &kInside<Held>;
    } else {
      ::new (room_) Held* {new Held{std::forward<F>(callable)}};
      handlers_ = &kOutside<Held>;
    }
  }

  Work(Work&& other) noexcept : handlers_{std::exchange(other.handlers_, nullptr)} {
    if (handlers_ != nullptr) handlers_->move(other.room_, room_);
  }
  Work& operator=(Work&& other) noexcept {
    if (this == &other) return *this;
    reset();
    handlers_ = std::exchange(other.handlers_, nullptr);
    if (handlers_ != nullptr) handlers_->move(other.room_, room_);
    return *this;
  }
  ~Work() { reset(); }

  /// Precondition: holds something.
  void operator()() { handlers_->run(room_); }

 private:
  static constexpr std::size_t kRoom = 96;

  struct Handlers {
    void (*run)(void*);
    void (*move)(void* from, void* to) noexcept;
    void (*destroy)(void*) noexcept;
  };

  template <class Held>
  static Held* inside(void* room) {
    return std::launder(static_cast<Held*>(room));
  }

  template <class Held>
  static constexpr Handlers kInside{
      [](void* room) { (*inside<Held>(room))(); },
      [](void* from, void* to) noexcept {
        ::new (to) Held{std::move(*inside<Held>(from))};
        std::destroy_at(inside<Held>(from));
      },
      [](void* room) noexcept { std::destroy_at(inside<Held>(room)); }};

  template <class Held>
  static constexpr Handlers kOutside{
      [](void* room) { (**inside<Held*>(room))(); },
      [](void* from, void* to) noexcept { ::new (to) Held* {*inside<Held*>(from)}; },
      [](void* room) noexcept { delete *inside<Held*>(room); }};

  void reset() noexcept {
    if (handlers_ != nullptr) std::exchange(handlers_, nullptr)->destroy(room_);
  }

  const Handlers* handlers_{nullptr};
  alignas(std::max_align_t) std::byte room_[kRoom];
};

}  // namespace holdfast
