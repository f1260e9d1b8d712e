#include "core/once.h"

#include <algorithm>
#include <utility>

#include "base/invalid.h"
#include "core/limits.h"

namespace holdfast::core {
namespace {

constexpr std::string_view kLockPrefix = "once:";
/// How often to repeat a write that was not answered.
constexpr int kRepetitions = 3;
constexpr char kFormat = '1';
/// The format and the status before the bytes.
constexpr std::size_t kHeader = 1 + sizeof(std::int32_t);

}  // namespace

std::string once_lock(std::string_view key) { return std::string{kLockPrefix} + std::string{key}; }

Result<void> check_once(std::string_view key, const OnceOptions& options) {
  if (auto good = check_key(key); !good) return good;
  if (key.size() + kLockPrefix.size() > kNameBytesMax) {
    return invalid("the key has " + std::to_string(key.size()) + " bytes", "use at most 507 bytes");
  }
  if (auto good = check_ttl(options.ttl); !good) return good;
  if (options.wait < Millis{0}) {
    return invalid("the wait of " + std::to_string(options.wait.count()) + " ms is negative",
                   "use 0 to learn at once whether it is in progress");
  }
  constexpr Millis kKeepMax{std::chrono::hours{24 * 366 * 100}};
  if (options.keep < Millis{1} || options.keep > kKeepMax) {
    return invalid("the keep of " + std::to_string(options.keep.count()) + " ms is out of range",
                   "use 1 ms to 100 years");
  }
  return {};
}

std::string encode_once(const OnceResult& result) {
  std::string bytes(kHeader, kFormat);
  const auto status = static_cast<std::uint32_t>(result.status);
  for (std::size_t at = 0; at < sizeof status; ++at) {
    bytes[1 + at] = static_cast<char>(status >> (8 * at) & 0xff);
  }
  return bytes + result.bytes;
}

std::optional<OnceResult> decode_once(std::string_view bytes) {
  if (bytes.size() < kHeader || bytes.front() != kFormat) return std::nullopt;
  std::uint32_t status = 0;
  for (std::size_t at = 0; at < sizeof status; ++at) {
    status |= std::uint32_t{static_cast<std::uint8_t>(bytes[1 + at])} << (8 * at);
  }
  return OnceResult{.status = static_cast<std::int32_t>(status),
                    .bytes = std::string{bytes.substr(kHeader)}};
}

StoreRequest once_look(std::string_view key) {
  return {.space = Space::once, .key = std::string{key}, .operation = GetKey{}};
}

StoreRequest once_open(std::string_view key, const Holder& runner) {
  return {
      .space = Space::once, .key = std::string{key}, .operation = OpenResource{.holder = runner}};
}

StoreRequest once_read(std::string_view key, const Holder& runner) {
  return {.space = Space::once,
          .key = std::string{key},
          .operation = ReadResource{.holder = runner, .opened = Opened::before}};
}

Result<StoreRequest, StoreError> once_write(std::string_view key,
                                            const Holder& runner,
                                            const OnceResult& result,
                                            const OnceOptions& options) {
  std::string value = encode_once(result);
  if (value.size() > kValueBytesMax) {
    return Unexpected{StoreError{
        Errc::invalid_argument,
        "the result has " + std::to_string(result.bytes.size()) + " bytes and was not stored",
        "return at most 1 MiB less 5 bytes: store large results elsewhere, and return their name"}};
  }
  return StoreRequest{.space = Space::once,
                      .key = std::string{key},
                      .operation = WriteResource{.holder = runner,
                                                 .opened = Opened::before,
                                                 .sequence = 1,
                                                 .value = std::move(value),
                                                 .keep = options.keep}};
}

StoreRequest once_forget(std::string_view key, const Holder& runner, const OnceOptions& options) {
  return {.space = Space::once,
          .key = std::string{key},
          .operation = WriteResource{.holder = runner,
                                     .opened = Opened::before,
                                     .sequence = 1,
                                     .value = std::nullopt,
                                     .keep = options.keep}};
}

Keep keeps(const OnceResult& result, const OnceOptions& options) {
  return result.status == 0 || options.on_failure == OnFailure::store ? Keep::yes : Keep::no;
}

Result<std::optional<OnceResult>, StoreError> stored_result(StoreResult reply) {
  if (!reply) return Unexpected{std::move(reply).error()};
  if (!reply->entry) return std::optional<OnceResult>{};
  auto result = decode_once(reply->entry->value);
  if (result) return std::optional{std::move(*result)};
  return Unexpected{StoreError{Errc::corrupt, "what is stored is not the result of a once"}};
}

Result<std::optional<OnceResult>, StoreError> find_result(StoreBackend& store,
                                                          std::string_view key,
                                                          const Holder& runner) {
  auto opened = store.perform(once_open(key, runner));
  if (!opened) return Unexpected{std::move(opened).error()};
  return stored_result(store.perform(once_read(key, runner)));
}

Result<void, StoreError> keep_result(StoreBackend& store, const StoreRequest& write) {
  for (int again = 0;; ++again) {
    auto written = store.perform(write);
    if (written) return {};
    const bool unknown = written.error().code == Errc::unknown_outcome;
    if (!unknown || again == kRepetitions) return Unexpected{std::move(written).error()};
  }
}

Result<Holder, StoreError> once_runner(std::string_view sequencer) {
  const auto holder = parse_sequencer(sequencer);
  if (!holder) return Unexpected{holder.error()};
  return to_holder(*holder);
}

AcquireOptions OnceCourse::next_attempt(TimePoint now) const {
  AcquireOptions options{.ttl = options_.ttl, .wait = options_.wait};
  if (options_.wait == kForever) return options;
  options.wait -= std::chrono::duration_cast<Millis>(now - begin_);
  options.wait = std::max(Millis{0}, options.wait);
  return options;
}

StoreError OnceCourse::not_the_runner(AcquireError error) const {
  if (error.code != Errc::busy && error.code != Errc::timeout) {
    return StoreError{Error{std::move(error)}};
  }
  if (overtaken_) {
    return {Errc::lost,
            "the lease was lost while \"" + key_ +
                "\" ran; its result was refused, and another runner has taken over",
            "ask again for the other runner's result"};
  }
  std::string message = "\"" + key_ + "\" is being run";
  if (error.holder) {
    message += " by " + error.holder->host + " pid " + std::to_string(error.holder->pid);
  }
  return {Errc::in_progress, std::move(message)};
}

std::optional<StoreError> OnceCourse::refused_at_open(StoreError error) {
  // A newer runner was here between the grant and the open. Again and again, tokens went back.
  constexpr int kRefusalsMax = 3;
  if (error.code == Errc::stale_token && ++refusals_ < kRefusalsMax) return std::nullopt;
  return error;
}

std::optional<StoreError> OnceCourse::refused_at_write(StoreError error) {
  if (error.code != Errc::stale_token) return error;
  overtaken_ = true;
  return std::nullopt;
}

}  // namespace holdfast::core
