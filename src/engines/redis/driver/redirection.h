// What a server says instead of an answer, when another one should be asked or this one later.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engines/redis/driver/redis_target.h"
#include "engines/redis/redis_port.h"

namespace holdfast::redis {

struct Redirection {
  enum class Kind : std::uint8_t {
    /// It is an answer.
    none,
    /// MOVED: the slot belongs to another server from now on.
    moved,
    /// ASK: this once, ask another server, which is taking the slot over.
    ask,
    /// TRYAGAIN, CLUSTERDOWN, LOADING, MASTERDOWN: the same, a little later.
    later,
    /// READONLY: it is not the one that takes writes, or not any more.
    replaced,
  };

  Kind kind{Kind::none};
  std::uint16_t slot{0};
  /// Of moved and ask. An empty host: that of the server which said so.
  Address to{};
};

/// Nothing was done at a server that answers with a redirection. A MOVED or ASK that cannot be read
/// is none.
Redirection read_redirection(const Reply& reply);

}  // namespace holdfast::redis
