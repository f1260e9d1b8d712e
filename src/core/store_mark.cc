#include "core/store_mark.h"

#include <array>

#include "base/decimal.h"
#include "base/percent.h"

namespace holdfast::core {
namespace {

constexpr std::string_view kNothing = "-";
constexpr std::array<std::string_view, 3> kContents{"none", "value", "fleeting"};
constexpr std::array<std::string_view, 3> kPolicies{"many", "strict", kNothing};
constexpr std::size_t kNoPolicy = 2;

/// One word, never empty.
std::string word_of(std::string_view text) {
  if (text.empty()) return std::string{kNothing};
  return percent_encode(text, "._~/:");
}

/// The words of a mark, one after the other.
class Words {
 public:
  explicit Words(std::string_view text) : rest_{text} {}

  bool good() const { return good_; }
  bool at_end() const { return rest_.empty(); }

  std::string_view next() {
    const std::size_t end = rest_.find(' ');
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    const bool parted_from_nothing = end != std::string_view::npos && rest_.empty();
    good_ = good_ && !word.empty() && !parted_from_nothing;
    return word;
  }

  std::string text() {
    const std::string_view word = next();
    if (word == kNothing) return {};
    auto decoded = percent_decode(word);
    good_ = good_ && decoded;
    return decoded.value_or("");
  }

  std::uint64_t number() {
    const auto value = parse_decimal<std::uint64_t>(next());
    good_ = good_ && value;
    return value.value_or(0);
  }

  template <std::size_t kCount>
  std::size_t one_of(const std::array<std::string_view, kCount>& choices) {
    const std::string_view word = next();
    for (std::size_t i = 0; i < kCount; ++i) {
      if (choices[i] == word) return i;
    }
    good_ = false;
    return 0;
  }

 private:
  std::string_view rest_;
  bool good_{true};
};

}  // namespace

std::string fixed_width(Token token) {
  constexpr std::size_t kDigits = 16;
  const std::string digits = std::to_string(token.value());
  return std::string(kDigits - digits.size(), '0') + digits;
}

std::string to_text(const StoreMark& mark) {
  const Fence none;
  const Fence& fence = mark.fence ? *mark.fence : none;
  const std::size_t policy = mark.fence ? static_cast<std::size_t>(fence.policy) : kNoPolicy;
  std::string text = fixed_width(fence.any.token) + ' ' + fixed_width(fence.exclusive.token);
  const auto add = [&text](std::string_view word) { (text += ' ') += word; };
  add(std::to_string(mark.version.value()));
  add(kContents[static_cast<std::size_t>(mark.content)]);
  add(kPolicies[policy]);
  add(word_of(fence.domain));
  add(word_of(fence.any.owner_fp));
  add(word_of(fence.exclusive.owner_fp));
  add(std::to_string(fence.sequence));
  add(std::to_string(fence.written.value()));
  add(std::to_string(fence.written_sequence));
  add(word_of(mark.contender));
  add(word_of(mark.rebased));
  for (const DoneRequest& done : mark.done) {
    add(word_of(done.id));
    add(std::to_string(done.version.value()));
    add(std::to_string(done.sequence));
  }
  return text;
}

std::optional<StoreMark> read_mark(std::string_view text) {
  Words words{text};
  StoreMark mark;
  Fence fence;
  fence.any.token = Token{words.number()};
  fence.exclusive.token = Token{words.number()};
  mark.version = Version{words.number()};
  mark.content = static_cast<StoreMark::Content>(words.one_of(kContents));
  const std::size_t policy = words.one_of(kPolicies);
  fence.domain = words.text();
  fence.any.owner_fp = words.text();
  fence.exclusive.owner_fp = words.text();
  fence.sequence = words.number();
  fence.written = Token{words.number()};
  fence.written_sequence = words.number();
  mark.contender = words.text();
  mark.rebased = words.text();
  while (words.good() && !words.at_end()) {
    DoneRequest done{.id = words.text()};
    done.version = Version{words.number()};
    done.sequence = words.number();
    mark.done.push_back(std::move(done));
  }
  if (!words.good()) return std::nullopt;
  if (policy != kNoPolicy) {
    fence.policy = static_cast<WritePolicy>(policy);
    mark.fence = std::move(fence);
  }
  return mark;
}

}  // namespace holdfast::core
