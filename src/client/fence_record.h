// What is remembered about a fenced file, and how it is written down.
//
// A slot is one record with its generation and the SHA-256 of everything before: whole, or not
// valid at all. Numbers are little-endian.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/fence.h"

namespace holdfast::files {

using Digest = std::array<std::uint8_t, 32>;

/// What a file has: the SHA-256 of its bytes. Empty: there is no file.
using Content = std::optional<Digest>;

Digest digest_of(std::string_view bytes);

/// How things stand after an operation.
struct Standing {
  /// Empty: the file belongs to no lock yet.
  std::optional<core::Fence> fence{};
  /// What the last write or erase left.
  Content content{};
  /// Counts writes and erases.
  std::uint64_t version{0};

  friend bool operator==(const Standing&, const Standing&) = default;
};

/// An operation that was begun: done if the file has its content.
struct Pending {
  Standing after{};
  /// Of the temporary file it uses.
  std::uint64_t temporary{0};

  friend bool operator==(const Pending&, const Pending&) = default;
};

struct FenceRecord {
  Standing standing{};
  std::optional<Pending> pending{};

  friend bool operator==(const FenceRecord&, const FenceRecord&) = default;
};

struct Slot {
  std::uint64_t generation{0};
  FenceRecord record{};
};

inline constexpr std::size_t kSlotBytes = 4096;

/// kSlotBytes of text. Empty when the record does not fit: a lock with a name beyond all limits.
std::optional<std::string> encode(const Slot& slot);

/// Empty when these are not the bytes of a whole slot.
std::optional<Slot> decode(std::string_view bytes);

}  // namespace holdfast::files
