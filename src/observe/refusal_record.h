// What is kept of the operations a fence refused because their holder had been overtaken: how many
// there were, and at which resources.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::observe {

/// Where the record of an engine is, in its store.
inline constexpr const char* kRefusalsKey = "holdfast/refusals";

struct RefusalRecord {
  /// Resources beyond this are forgotten, those first that were refused longest ago.
  static constexpr std::size_t kResourcesMax = 100;

  struct Refused {
    std::uint64_t count{0};
    /// By the wall clock of who was refused.
    std::int64_t last_ms{0};

    friend bool operator==(const Refused&, const Refused&) = default;
  };

  /// Forgotten resources are counted still.
  std::uint64_t total{0};
  /// The first of them. Zero: there was none.
  std::int64_t since_ms{0};
  std::map<std::string, Refused, std::less<>> resources;

  /// One more at a resource, of whose name the first 512 bytes are kept.
  void add(std::string_view resource, std::int64_t now_ms);
  /// In any order, as long as nothing has to be forgotten.
  void merge(const RefusalRecord& other);

  /// At most 56 KiB.
  std::string encode() const;
  /// Empty when the bytes are something else.
  static std::optional<RefusalRecord> decode(std::string_view bytes);

  friend bool operator==(const RefusalRecord&, const RefusalRecord&) = default;

 private:
  void forget_the_oldest();
};

}  // namespace holdfast::observe
