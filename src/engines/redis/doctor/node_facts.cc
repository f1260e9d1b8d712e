#include "engines/redis/doctor/node_facts.h"

#include <charconv>

namespace holdfast::redis {
namespace {

std::int64_t number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc{} ? number : 0;
}

}  // namespace

std::int64_t NodeFacts::info_number(std::string_view name) const {
  return number_in(info_of(name));
}

std::int64_t NodeFacts::config_number(std::string_view name) const {
  return number_in(config_of(name));
}

std::map<std::string, std::string, std::less<>> read_info(std::string_view text) {
  std::map<std::string, std::string, std::less<>> info;
  while (!text.empty()) {
    const auto end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || line.starts_with('#')) continue;
    info.emplace(line.substr(0, colon), line.substr(colon + 1));
  }
  return info;
}

}  // namespace holdfast::redis
