#include "engines/postgres/store/store_answer.h"

#include <charconv>
#include <utility>

#include "engines/postgres/bytea.h"
#include "engines/postgres/refusal_error.h"

namespace holdfast::postgres {
namespace {

/// word, four numbers, value, message, settled.
constexpr std::size_t kColumns = 8;

bool read_number(const Value& text, std::uint64_t& number) {
  if (!text) return false;
  const char* end = text->data() + text->size();
  const auto read = std::from_chars(text->data(), end, number);
  return read.ec == std::errc{} && read.ptr == end;
}

std::optional<core::StoreWords> words_of(const Rows& rows) {
  if (rows.size() != 1 || rows[0].size() != kColumns) return std::nullopt;
  const Row& row = rows[0];
  if (!row[0] || !row[7]) return std::nullopt;
  core::StoreWords words{.word = *row[0]};
  for (std::size_t i = 0; i < words.numbers.size(); ++i) {
    if (!read_number(row[i + 1], words.numbers.at(i))) return std::nullopt;
  }
  if (words.word == "found") {
    auto value = row[5] ? to_bytes(*row[5]) : std::nullopt;
    if (!value) return std::nullopt;
    words.text = *std::move(value);
  } else if (row[6]) {
    words.text = *row[6];
  }
  words.earlier = *row[7] == "t" ? core::Earlier::settled : core::Earlier::open;
  return words;
}

}  // namespace

Result<core::StoreAnswer> read_store_answer(const StoreRequest& request,
                                            const Result<Answer>& answer) {
  if (!answer) return Unexpected{answer.error()};
  if (const auto* refusal = std::get_if<Refusal>(&*answer)) {
    return Unexpected{Error{core::about(request, error_of(*refusal))}};
  }
  auto words = words_of(std::get<Rows>(*answer));
  if (!words) return core::senseless(request);
  auto read = core::to_answer(request, *std::move(words));
  return read ? *std::move(read) : core::senseless(request);
}

}  // namespace holdfast::postgres
