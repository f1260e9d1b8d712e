// Callback: something to call once, later. Small callables live inside it, without an allocation.

#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace holdfast {

/// Callables of up to `kRoom` bytes need no allocation. Move-only. Thread safety: none.
template <std::size_t kRoom, class... Args>
class Callback {
 public:
  Callback() = default;

  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, Callback>) Callback(F&& callable) {
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

  Callback(Callback&& other) noexcept : handlers_{std::exchange(other.handlers_, nullptr)} {
    if (handlers_ != nullptr) handlers_->move(other.room_, room_);
  }
  Callback& operator=(Callback&& other) noexcept {
    if (this == &other) return *this;
    reset();
    handlers_ = std::exchange(other.handlers_, nullptr);
    if (handlers_ != nullptr) handlers_->move(other.room_, room_);
    return *this;
  }
  ~Callback() { reset(); }

  /// Precondition: holds something.
  void operator()(Args... args) { handlers_->run(room_, std::forward<Args>(args)...); }

 private:
  struct Handlers {
    void (*run)(void*, Args&&...);
    void (*move)(void* from, void* to) noexcept;
    void (*destroy)(void*) noexcept;
  };

  template <class Held>
  static Held* inside(void* room) {
    return std::launder(static_cast<Held*>(room));
  }

  template <class Held>
  static constexpr Handlers kInside{
      [](void* room, Args&&... args) { (*inside<Held>(room))(std::forward<Args>(args)...); },
      [](void* from, void* to) noexcept {
        ::new (to) Held{std::move(*inside<Held>(from))};
        std::destroy_at(inside<Held>(from));
      },
      [](void* room) noexcept { std::destroy_at(inside<Held>(room)); }};

  template <class Held>
  static constexpr Handlers kOutside{
      [](void* room, Args&&... args) { (**inside<Held*>(room))(std::forward<Args>(args)...); },
      [](void* from, void* to) noexcept { ::new (to) Held* {*inside<Held*>(from)}; },
      [](void* room) noexcept { delete *inside<Held*>(room); }};

  void reset() noexcept {
    if (handlers_ != nullptr) std::exchange(handlers_, nullptr)->destroy(room_);
  }

  alignas(std::max_align_t) std::byte room_[kRoom];
  const Handlers* handlers_{nullptr};
};

/// Something to do once, later.
using Work = Callback<104>;

}  // namespace holdfast
