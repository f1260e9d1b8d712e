// What can become of a request that a store sends.

#pragma once

#include <cstdint>
#include <functional>

namespace holdfast::marked_store {

enum class Fate : std::uint8_t {
  answered,
  /// The request never leaves.
  not_sent,
  /// Nor will any other: the server does not let us in.
  locked_out,
  /// It leaves and never arrives.
  request_lost,
  /// It is done, and nobody learns of it.
  answer_lost,
  /// It arrives when the test says so; until then as if it were lost.
  delayed,
};

struct Fault {
  Fate fate{Fate::answered};
  /// What others do before the caller learns how it went.
  std::function<void()> meanwhile{};
};

}  // namespace holdfast::marked_store
