// Random requests to a store, and words for what came of them: for running two stores side by side.

#pragma once

#include <array>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/redis_store/store_model.h"

namespace holdfast::redis_store {

/// Few tokens, owners and keys, so that everything meets everything.
class StoreDice {
 public:
  explicit StoreDice(std::uint32_t seed) : chance_{seed} {}

  std::uint64_t below(std::uint64_t end) { return chance_() % end; }
  bool one_in(std::uint64_t count) { return below(count) == 0; }

  /// Three at a time, and now and then new ones.
  std::string key() { return "k" + std::to_string(below(3) + age_ / 100 * 3); }

  StoreRequest request(const std::map<std::string, std::vector<Version>>& versions) {
    if (last_ && one_in(6)) return *last_;
    last_ = fresh_request(versions);
    return *last_;
  }

 private:
  static inline const std::vector<Version> kNone{};

  StoreRequest fresh_request(const std::map<std::string, std::vector<Version>>& versions) {
    const std::uint64_t choice = below(13);
    // Some keys are never opened with a token.
    const bool plain = choice <= 3 && !one_in(4);
    StoreRequest request{.key = plain ? "plain" + std::to_string(below(2)) : key(),
                         .operation = GetKey{}};
    const auto known = versions.find(request.key);
    const auto& of_key = known == versions.end() ? kNone : known->second;
    switch (choice) {
      case 0:
        break;
      case 1:
      case 2:
        request.operation = PutKey{.value = value(), .if_version = version(of_key)};
        break;
      case 3:
        request.operation = EraseKey{.if_version = version(of_key)};
        break;
      case 4:
      case 5:
        request.operation = OpenResource{.holder = holder(), .options = {.policy = policy()}};
        break;
      case 6:
      case 7:
        request.operation =
            ReadResource{.holder = holder(), .opened = opened(), .sequence = sequence()};
        break;
      case 8:
        request.operation = RebaseResource{.domain = domain(), .why = "chance"};
        break;
      default:
        request.operation = write();
    }
    return request;
  }

  std::string domain() { return one_in(8) ? "redis:b#y" : "redis:a#x"; }
  std::string value() { return one_in(6) ? "" : "value " + std::to_string(below(2)); }
  core::Opened opened() { return one_in(2) ? core::Opened::before : core::Opened::not_yet; }

  core::Holder holder() {
    ++age_;
    // Tokens rise in the long run, as they do in life; some are as high as they get.
    const std::uint64_t token = one_in(200) ? Token::kMax - below(2) : 1 + age_ / 40 + below(4);
    return {.domain = domain(),
            .mode = one_in(3) ? Mode::shared : Mode::exclusive,
            .token = Token{token},
            .owner_fp = one_in(6) ? "thief" : "owner-" + std::to_string(token)};
  }

  std::optional<WritePolicy> policy() {
    if (!one_in(4)) return std::nullopt;
    return one_in(2) ? WritePolicy::strict : WritePolicy::many;
  }

  std::optional<std::uint64_t> sequence() {
    constexpr std::array kRare{
        core::kSequenceMax, core::kSequenceMax + 1, ~std::uint64_t{0}, std::uint64_t{1} << 63};
    if (one_in(4)) return std::nullopt;
    return one_in(60) ? kRare.at(below(kRare.size())) : below(5);
  }

  WriteResource write() {
    WriteResource write{.holder = holder(), .opened = opened(), .sequence = sequence()};
    if (!one_in(4)) write.value = value();
    if (one_in(5)) write.keep = Millis{3'600'000};
    return write;
  }

  std::optional<Version> version(const std::vector<Version>& known) {
    if (one_in(3)) return std::nullopt;
    if (known.empty() || one_in(3)) return Version::absent();
    return one_in(2) ? known.back() : known[below(known.size())];
  }

  std::mt19937 chance_;
  std::uint64_t age_{0};
  std::optional<StoreRequest> last_;
};

/// Equal for results that callers cannot tell apart. A new version is the store's choice.
enum class Versions : std::uint8_t { told, left_out };
std::string describe(const StoreResult& result, Versions versions);

/// The nine fields of a fence, as text; all empty: there is none.
std::vector<std::string> describe(const ModelRow* row);

}  // namespace holdfast::redis_store
