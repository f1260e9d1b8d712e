#include "engines/postgres/callers/caller_error.h"

#include <algorithm>
#include <charconv>

#include "engines/postgres/refusal_error.h"

namespace holdfast::postgres {
namespace {

std::optional<Token> token_after(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view digits = text.substr(at + word.size());
  std::uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (number == 0) return std::nullopt;
  return Token{number};
}

/// libpqxx hands over all of the server's lines at once.
std::string first_line(std::string text) {
  text.resize(std::min(text.find('\n'), text.size()));
  constexpr std::string_view kError = "ERROR:  ";
  return text.starts_with(kError) ? text.substr(kError.size()) : text;
}

Error general(const SqlError& error) {
  if (error.sqlstate.empty()) return error;
  if (error.sqlstate == "25P02") {
    return {Errc::invalid_argument, "the transaction has failed before", "roll it back"};
  }
  return error_of(Refusal{
      .sqlstate = error.sqlstate, .message = first_line(error.message), .detail = error.detail});
}

}  // namespace

StoreError to_store_error(const SqlError& error) {
  StoreError answer{general(error)};
  if (error.sqlstate == "HF001") {
    answer.code = Errc::stale_token;
    const std::string all = error.message + ' ' + error.detail;
    answer.yours = token_after(all, "yours=");
    answer.highest = token_after(all, "highest=");
  }
  if (error.sqlstate == "HF002") answer.code = Errc::wrong_domain;
  if (error.sqlstate == "HF003") answer.code = Errc::invalid_argument;
  return answer;
}

AcquireError to_acquire_error(const SqlError& error) {
  AcquireError answer{general(error)};
  if (error.sqlstate == "55P03") answer.code = Errc::busy;
  return answer;
}

}  // namespace holdfast::postgres
