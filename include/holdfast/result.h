// Result<T, E>: a value, or the reason there is none.
//
// Spelled like std::expected, but a type of Holdfast's own: a library built as C++20 and a program
// built as C++23 must agree on its layout.
//
// Thread safety: as the contained value.

#pragma once

#include <type_traits>
#include <utility>
#include <variant>

#include "holdfast/error.h"

namespace holdfast {

/// Wraps an error on its way into a Result: `return Unexpected{error};`.
template <class E>
struct Unexpected {
  E error;
};
template <class E>
Unexpected(E) -> Unexpected<E>;

template <class T, class E = Error>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  using error_type = E;

  Result(T value) : state_{std::in_place_index<0>, std::move(value)} {}
  /// A value made where it will stay.
  template <class... Args>
  explicit Result(std::in_place_t, Args&&... args)
      : state_{std::in_place_index<0>, std::forward<Args>(args)...} {}
  template <class G>
  requires std::is_constructible_v<E, G> Result(Unexpected<G> unexpected)
      : state_{std::in_place_index<1>, E(std::move(unexpected.error))} {}

  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  /// Precondition: has_value(). Otherwise std::bad_variant_access.
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  /// Precondition: !has_value(). Otherwise std::bad_variant_access.
  E& error() & { return std::get<1>(state_); }
  const E& error() const& { return std::get<1>(state_); }
  E&& error() && { return std::get<1>(std::move(state_)); }

  template <class U>
  T value_or(U&& other) const& {
    return has_value() ? value() : static_cast<T>(std::forward<U>(other));
  }

 private:
  std::variant<T, E> state_;
};

/// Success without a value, or the reason there is none.
template <class E>
class [[nodiscard]] Result<void, E> {
 public:
  using value_type = void;
  using error_type = E;

  Result() = default;
  template <class G>
  requires std::is_constructible_v<E, G> Result(Unexpected<G> unexpected)
      : state_{std::in_place_index<1>, E(std::move(unexpected.error))} {}

  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  /// Precondition: !has_value(). Otherwise std::bad_variant_access.
  E& error() & { return std::get<1>(state_); }
  const E& error() const& { return std::get<1>(state_); }
  E&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<std::monostate, E> state_;
};

}  // namespace holdfast
