// The scripts decide in Lua what core/fence.cc decides in C++. Here both run side by side, on
// random operations from a seed, and have to agree in everything: outcome, wording, and what is
// remembered.

#include <map>
#include <random>

#include "engines/redis/store/store_call.h"
#include "tests/redis_store/store_bed.h"
#include "tests/redis_store/store_model.h"

namespace holdfast::redis_store {
namespace {

constexpr int kSteps = 3000;

/// Few tokens, owners and keys, so that everything meets everything.
class Dice {
 public:
  explicit Dice(std::uint32_t seed) : chance_{seed} {}

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

std::string describe(const StoreResult& result, bool with_version) {
  if (!result) {
    const StoreError& error = result.error();
    std::string text = std::string{to_string(error.code)} + ": " + error.message;
    if (error.yours) text += ", yours " + std::to_string(error.yours->value());
    if (error.highest) text += ", highest " + std::to_string(error.highest->value());
    if (error.actual) text += ", actual " + std::to_string(error.actual->value());
    return text;
  }
  std::string text = result->changed ? "changed" : "unchanged";
  if (result->applied == Applied::duplicate) text += " duplicate";
  text += ", sequence " + std::to_string(result->sequence);
  if (with_version) text += ", version " + std::to_string(result->version.value());
  if (result->entry) {
    text += ", \"" + result->entry->value + "\"";
    if (result->entry->token) text += " by " + std::to_string(result->entry->token->value());
    text += "/" + std::to_string(result->entry->sequence);
  }
  return text;
}

std::vector<std::string> describe(const ModelRow* row) {
  if (row == nullptr || !row->fence) return std::vector<std::string>(9);
  const core::Fence& fence = *row->fence;
  const auto number = [](Token token) { return std::to_string(token.value()); };
  return {fence.domain,
          fence.policy == WritePolicy::strict ? "strict" : "many",
          number(fence.exclusive.token),
          fence.exclusive.owner_fp,
          number(fence.any.token),
          fence.any.owner_fp,
          std::to_string(fence.sequence),
          number(fence.written),
          std::to_string(fence.written_sequence)};
}

class AgreementTest : public StoreBed, public ::testing::WithParamInterface<int> {
 protected:
  static std::string hash(const std::string& key) {
    return redis::store_key(kPrefix, Space::values, key);
  }

  /// One operation on both.
  void step(const StoreRequest& request) {
    const StoreResult actual = other(request);
    const StoreResult expected = model_.perform(request);
    // A new version is the store's choice; it has to be higher than any before.
    const bool is_rebase = std::holds_alternative<RebaseResource>(request.operation);
    const bool is_new = expected && expected->changed && !is_rebase;
    ASSERT_EQ(describe(actual, !is_new), describe(expected, !is_new));
    if (is_new) {
      auto& known = versions_[request.key];
      const Version last = known.empty() ? Version::absent() : known.back();
      ASSERT_GT(actual->version, last);
      known.push_back(actual->version);
      model_.accept(request.key, actual->version);
    }
    ++outcomes_[expected ? (expected->applied == Applied::duplicate ? "duplicate" : "done")
                         : to_string(expected.error().code)];
    ASSERT_EQ(remembered(request.key), describe(model_.find(request.key)));
  }

  std::vector<std::string> remembered(const std::string& key) {
    const auto reply = command({"HMGET",
                                hash(key),
                                "domain",
                                "policy",
                                "exclusive",
                                "exclusive_owner",
                                "any",
                                "any_owner",
                                "sequence",
                                "written",
                                "written_sequence"});
    std::vector<std::string> texts;
    for (const auto& item : reply.items) texts.push_back(item.text);
    return texts;
  }

  /// Time passes for what does not last: first the value goes, then everything.
  void let_time_pass(const std::string& key) {
    using Expiry = ModelRow::Expiry;
    const ModelRow* row = model_.find(key);
    const Expiry expiry = row == nullptr ? Expiry::never : row->expiry;
    ASSERT_EQ(command({"HEXISTS", hash(key), "expires"}).integer, expiry == Expiry::never ? 0 : 1);
    // What has a fence and lasts is never forgotten by the server.
    const bool lasts = row != nullptr && expiry == Expiry::never && (row->value || row->fence);
    ASSERT_EQ(command({"PTTL", hash(key)}).integer >= 0, row != nullptr && !lasts);
    if (expiry == Expiry::to_come) {
      command({"HSET", hash(key), "expires", "1000"});
      model_.expire(key);
    } else if (expiry == Expiry::past) {
      command({"DEL", hash(key)});
      model_.forget(key);
    }
  }

  StoreModel model_;
  std::map<std::string, std::vector<Version>> versions_;
  std::map<std::string_view, int> outcomes_;
};

TEST_P(AgreementTest, ScriptsAndPureFunctionsDecideTheSame) {
  Dice dice{static_cast<std::uint32_t>(GetParam())};
  for (int i = 0; i < kSteps && !HasFatalFailure(); ++i) {
    SCOPED_TRACE("step " + std::to_string(i));
    step(dice.request(versions_));
    if (dice.one_in(20)) let_time_pass(dice.key());
  }
  // Or the run shows little.
  for (const std::string_view outcome : {"done",
                                         "duplicate",
                                         "stale_token",
                                         "wrong_domain",
                                         "version_conflict",
                                         "invalid_argument",
                                         "not_found"}) {
    EXPECT_GE(outcomes_[outcome], 5) << outcome;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, AgreementTest, ::testing::Range(1, 13));

}  // namespace
}  // namespace holdfast::redis_store
