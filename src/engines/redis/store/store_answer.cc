#include "engines/redis/store/store_answer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engines/redis/redis_reply.h"

namespace holdfast::redis {
namespace {

using Kind = Reply::Kind;

/// What an answer has after its first word.
struct Form {
  std::string_view word;
  std::size_t numbers;
  std::size_t texts;
};

constexpr std::array kForms{Form{"opened", 1, 0},
                            Form{"found", 4, 1},
                            Form{"absent", 2, 0},
                            Form{"applied", 2, 0},
                            Form{"duplicate", 2, 0},
                            Form{"unchanged", 2, 0}};

bool is_number(const Reply& item) { return item.kind == Kind::integer && item.integer >= 0; }

std::uint64_t number(const Reply& reply, std::size_t at) {
  return static_cast<std::uint64_t>(reply.items[at].integer);
}

bool has_form(const Reply& reply, const Form& form) {
  if (reply.items.size() != 1 + form.numbers + form.texts) return false;
  const auto numbers = reply.items.begin() + 1;
  const auto texts = numbers + static_cast<std::ptrdiff_t>(form.numbers);
  return reply.items[0].text == form.word && std::all_of(numbers, texts, is_number) &&
         std::all_of(
             texts, reply.items.end(), [](const Reply& item) { return item.kind == Kind::text; });
}

core::StoreWords words_of(const Reply& reply, const Form& form) {
  core::StoreWords words{.word = reply.items[0].text};
  for (std::size_t i = 0; i < form.numbers; ++i) words.numbers.at(i) = number(reply, i + 1);
  if (form.texts > 0) words.text = reply.items.back().text;
  return words;
}

/// A refusal: code, message, two numbers, and whether that is all.
bool is_refusal(const Reply& reply) {
  return reply.items.size() == 5 && reply.items[1].kind == Kind::text &&
         is_number(reply.items[2]) && is_number(reply.items[3]) &&
         reply.items[4].kind == Kind::text;
}

core::StoreWords refusal_words(const Reply& reply) {
  const bool settled = reply.items[4].text == "settled";
  return {.word = reply.items[0].text,
          .numbers = {number(reply, 2), number(reply, 3)},
          .text = reply.items[1].text,
          .earlier = settled ? core::Earlier::settled : core::Earlier::open};
}

StoreError refused_by_server(const StoreRequest& request, const std::string& message) {
  Error error = error_of(message);
  // How servers put it when it is a script that may not do something.
  const bool may_not = message.find("ACL failure") != std::string::npos ||
                       message.find("user executing the script can't") != std::string::npos;
  if (may_not) error.code = Errc::denied;
  if (error.code == Errc::corrupt) {
    error.remedy_text = "something else writes under this prefix: use another one";
  }
  return core::about(request, std::move(error));
}

}  // namespace

core::StoreAnswer read_store_answer(const StoreRequest& request, const Reply& reply) {
  if (reply.kind == Kind::error) {
    return {Unexpected{refused_by_server(request, reply.text)}, core::Earlier::open};
  }
  std::optional<core::StoreAnswer> answer;
  if (reply.kind == Kind::array && !reply.items.empty()) {
    const auto form =
        std::ranges::find_if(kForms, [&](const Form& one) { return has_form(reply, one); });
    if (form != kForms.end()) {
      answer = core::to_answer(request, words_of(reply, *form));
    } else if (is_refusal(reply)) {
      answer = core::to_answer(request, refusal_words(reply));
    }
  }
  return answer ? *std::move(answer) : core::senseless(request);
}

}  // namespace holdfast::redis
