// What the public Store asks of an engine: one operation at a time, each one atomic.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "core/fence.h"
#include "holdfast/result.h"
#include "holdfast/store_types.h"

namespace holdfast {

/// Keys of different spaces never meet.
enum class Space : std::uint8_t {
  /// What users put.
  values,
  /// Results of once().
  once,
};

/// Registers the holder, and answers with the last sequence. The entry is not read.
struct OpenResource {
  core::Holder holder;
  OpenOptions options{};
};

/// Answers with the entry and, when the holder was new to the resource, registers it.
struct ReadResource {
  core::Holder holder;
  core::Opened opened{core::Opened::not_yet};
  /// When given, at least as high as the last operation under this token.
  std::optional<std::uint64_t> sequence{};
};

struct WriteResource {
  core::Holder holder;
  core::Opened opened{core::Opened::not_yet};
  std::optional<std::uint64_t> sequence{};
  /// Empty: erase.
  std::optional<std::string> value{};
  /// The value and the resource's marks may be forgotten after this; the marks no longer once a
  /// holder has read that the value is gone.
  std::optional<Millis> keep{};
};

struct GetKey {};

struct PutKey {
  std::string value{};
  std::optional<Version> if_version{};
};

struct EraseKey {
  std::optional<Version> if_version{};
};

struct RebaseResource {
  /// core::lock_domain().
  std::string domain{};
  std::string why{};
};

struct StoreRequest {
  Space space{Space::values};
  std::string key;
  std::variant<OpenResource, ReadResource, WriteResource, GetKey, PutKey, EraseKey, RebaseResource>
      operation;
};

struct StoreReply {
  /// ReadResource, GetKey: what is stored.
  std::optional<Entry> entry{};
  /// WriteResource, PutKey, EraseKey. EraseKey: applied means that something was erased.
  bool changed{false};
  Applied applied{Applied::applied};
  Version version{0};
  /// OpenResource, ReadResource, WriteResource.
  std::uint64_t sequence{0};
};

using StoreResult = Result<StoreReply, StoreError>;
using StoreCallback = std::function<void(StoreResult)>;

/// One engine's store. Keys, values and tokens reach it checked (core/limits.h).
/// Thread safety: any thread.
class StoreBackend {
 public:
  virtual ~StoreBackend() = default;

  virtual StoreResult perform(const StoreRequest& request) = 0;

  /// Never blocks. The callback runs once, on a thread of the engine's; it must not block.
  virtual void async_perform(StoreRequest request, StoreCallback callback) = 0;
};

}  // namespace holdfast
