// A lock name prepared for look-up, and access to the names kept in slots.
//
// Names in the file are padded with zeros to whole words and compared word by word with atomic
// loads: a slot may be given another name while somebody reads it, and the reader finds out by
// the version of the slot's head.

#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "engines/local/layout.h"

namespace holdfast::local {

static_assert(std::endian::native == std::endian::little);

template <class Word>
std::uint64_t load_as(const char* text) {
  Word word;
  std::memcpy(&word, text, sizeof word);
  return word;
}

/// The word of a name that begins at `at`, a multiple of 8, padded with zeros. Assembled from loads
/// that overlap: a copy of a few bytes into a word would stall the load that follows.
inline std::uint64_t word_at(std::string_view name, std::size_t at) {
  const std::size_t left = name.size() - at;
  if (left >= 8) return load_as<std::uint64_t>(name.data() + at);
  if (left == 0) return 0;
  const char* const end = name.data() + name.size();
  if (name.size() >= 8) return load_as<std::uint64_t>(end - 8) >> (64 - 8 * left);
  if (left >= 4) {
    return load_as<std::uint32_t>(name.data()) | load_as<std::uint32_t>(end - 4)
                                                     << (8 * (left - 4));
  }
  if (left == 1) return load_as<std::uint8_t>(name.data());
  return load_as<std::uint16_t>(name.data()) | load_as<std::uint16_t>(end - 2) << (8 * (left - 2));
}

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

class NameKey {
 public:
  /// The name must have at least one byte and outlive the key.
  explicit NameKey(std::string_view name)
      : name_{name},
        last_word_{word_at(name, (name.size() - 1) / 8 * 8)},
        hash_{hash_of(name, last_word_)} {}

  std::string_view name() const { return name_; }
  std::uint64_t hash() const { return hash_; }
  std::size_t bucket() const { return hash_ % kBuckets; }
  std::uint32_t tag() const { return static_cast<std::uint32_t>(hash_ >> 32); }

  bool matches(const Slot& slot) const {
    if (slot.name_bytes.load(std::memory_order_relaxed) != name_.size()) return false;
    std::size_t at = 0;
    for (; at + 8 < name_.size(); at += 8) {
      if (load_word(slot, at) != load_as<std::uint64_t>(name_.data() + at)) return false;
    }
    return load_word(slot, at) == last_word_;
  }

  /// Writes the name into a slot that nobody can find yet.
  void store(Slot& slot) const {
    slot.hash.store(hash_, std::memory_order_relaxed);
    slot.name_bytes.store(static_cast<std::uint32_t>(name_.size()), std::memory_order_relaxed);
    for (std::size_t at = 0; at < name_.size(); at += 8) {
      std::atomic_ref<std::uint64_t>{word(slot, at)}.store(word_at(name_, at),
                                                           std::memory_order_relaxed);
    }
  }

  /// The name as it stands; the caller checks that the slot has not changed meanwhile.
  static std::string load(Slot& slot) {
    const std::size_t bytes = slot.name_bytes.load(std::memory_order_relaxed);
    std::string name(bytes, '\0');
    for (std::size_t at = 0; at < bytes; at += 8) {
      const std::uint64_t value = load_word(slot, at);
      std::memcpy(name.data() + at, &value, bytes - at < 8 ? bytes - at : 8);
    }
    return name;
  }

 private:
  static std::uint64_t& word(Slot& slot, std::size_t at) {
    return *reinterpret_cast<std::uint64_t*>(slot.name() + at);
  }
  static std::uint64_t load_word(const Slot& slot, std::size_t at) {
    auto& value = *reinterpret_cast<std::uint64_t*>(const_cast<char*>(slot.name() + at));
    return std::atomic_ref<std::uint64_t>{value}.load(std::memory_order_acquire);
  }
  static std::uint64_t hash_of(std::string_view name, std::uint64_t last_word) {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
    std::uint64_t hash = mix(name.size() ^ kOdd, 0xd6e8feb86659fd93);
    for (std::size_t at = 0; at + 8 < name.size(); at += 8) {
      hash = mix(hash ^ load_as<std::uint64_t>(name.data() + at), kOdd);
    }
    return mix(hash ^ last_word, 0xe7037ed1a0b428db);
  }

  std::string_view name_;
  std::uint64_t last_word_;
  std::uint64_t hash_;
};

}  // namespace holdfast::local
