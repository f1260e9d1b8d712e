#include "engines/zookeeper/broken_records.h"

#include <algorithm>
#include <chrono>

#include "base/decimal.h"

namespace holdfast::zookeeper {
namespace {

constexpr std::int64_t kKeptMs =
    std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::hours{24 * 30}).count();

}  // namespace

std::string record_name(std::string_view owner_fp, std::int64_t now_ms) {
  return std::string{owner_fp} + '-' + std::to_string(now_ms);
}

bool has_record(const std::vector<std::string>& records, std::string_view owner_fp) {
  const std::string begin = std::string{owner_fp} + '-';
  return std::ranges::any_of(records, [&](const auto& name) { return name.starts_with(begin); });
}

std::vector<std::string> old_records(const std::vector<std::string>& records, std::int64_t now_ms) {
  std::vector<std::string> old;
  for (const std::string& name : records) {
    const std::size_t dash = name.rfind('-');
    if (dash == std::string::npos) continue;
    const auto made_ms = parse_decimal<std::int64_t>(std::string_view{name}.substr(dash + 1));
    if (made_ms && *made_ms < now_ms - kKeptMs) old.push_back(name);
  }
  return old;
}

}  // namespace holdfast::zookeeper
