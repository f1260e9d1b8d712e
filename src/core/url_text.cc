#include "core/url_text.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>

#include "base/invalid.h"
#include "base/percent.h"
#include "core/limits.h"

namespace holdfast::core {

std::optional<std::string> decode_url_text(std::string_view text) {
  auto decoded = percent_decode(text);
  if (decoded && decoded->find('\0') != std::string::npos) return std::nullopt;
  return decoded;
}

std::string_view cut(std::string_view& rest, char separator) {
  const std::size_t at = std::min(rest.find(separator), rest.size());
  const std::string_view head = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return head;
}

bool has_scheme(std::string_view url, std::string_view scheme) {
  return std::ranges::equal(url.substr(0, scheme.size()), scheme, [](char given, char wanted) {
    return (given >= 'A' && given <= 'Z' ? given - 'A' + 'a' : given) == wanted;
  });
}

Result<std::string> parameter_value(const std::string& key,
                                    const std::optional<std::string_view>& text) {
  auto value = text ? decode_url_text(*text) : std::nullopt;
  if (value) return *std::move(value);
  return invalid("the parameter " + key + " has no well-formed value",
                 "write " + key + "=VALUE, and a literal % as %25");
}

Result<void> check_prefix(const std::string& prefix) {
  if (prefix.empty()) return {};
  const auto good = check_name(prefix);
  if (good) return {};
  return invalid("the parameter prefix: " + good.error().message, good.error().remedy_text);
}

Result<std::string> read_password_file(const std::string& name) {
  std::ifstream file{name};
  std::string password;
  std::getline(file, password);
  if (!file && !file.eof()) {
    return Unexpected{Error{Errc::io_error,
                            "the password file " + name +
                                " cannot be read: " + std::generic_category().message(errno)}};
  }
  if (password.ends_with('\r')) password.pop_back();
  return password;
}

}  // namespace holdfast::core
