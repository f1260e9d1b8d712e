#include "engines/zookeeper/store/store_node.h"

#include <algorithm>

#include "base/decimal.h"
#include "core/marked_store.h"

namespace holdfast::zookeeper {
namespace {

constexpr std::string_view kFormat = "hf1 ";
constexpr std::size_t kExpiryDigits = 15;

std::string_view word(Space space) { return space == Space::values ? "values" : "once"; }

/// The number in front of a text, which it takes off with the character that follows.
std::optional<Millis> take_time(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  if (at == std::string_view::npos) return std::nullopt;
  const auto number = parse_decimal<std::int64_t>(text.substr(0, at));
  text.remove_prefix(at + 1);
  if (!number || *number < 0) return std::nullopt;
  return Millis{*number};
}

}  // namespace

std::string head_of(const Passing& passing, const core::StoreMark& mark) {
  return std::string{kFormat} + std::to_string(passing.value.count()) + ' ' +
         std::to_string(passing.node.count()) + ' ' + core::to_text(mark);
}

std::string to_data(std::string_view head, std::string_view value) {
  std::string data{head};
  data += '\n';
  return data.append(value);
}

std::optional<StoreNode> read_node(std::string_view data) {
  const std::size_t end = data.find('\n');
  if (end == std::string_view::npos || !data.starts_with(kFormat)) return std::nullopt;
  StoreNode node;
  std::string_view head = data.substr(0, end);
  node.head = head;
  node.value = data.substr(end + 1);
  head.remove_prefix(kFormat.size());
  const auto value = take_time(head, ' ');
  const auto whole = take_time(head, ' ');
  auto mark = core::read_mark(head);
  if (!value || !whole || !mark) return std::nullopt;
  node.passing = {.value = *value, .node = *whole};
  node.mark = *std::move(mark);
  return node;
}

Passing passing_after(const core::StoreChange& change, const Passing& before, Millis now) {
  const auto memory = std::chrono::ceil<Millis>(core::kStoreMemory);
  const Millis keep = change.keep.value_or(Millis{0});
  switch (change.stay) {
    case core::Stay::for_good:
      return {};
    case core::Stay::as_before:
      return before;
    case core::Stay::a_while:
      return {.node = now + memory};
    case core::Stay::as_value:
      break;
  }
  const bool has_value = change.value == core::StoreChange::Value::is_put;
  return {.value = has_value ? now + keep : Millis{0}, .node = now + keep + memory};
}

std::string expiry_name(Millis at, std::string_view request) {
  const std::string digits = std::to_string(at.count());
  std::string name(kExpiryDigits - std::min(digits.size(), kExpiryDigits), '0');
  name += digits;
  name += '-';
  return name.append(request);
}

std::optional<Millis> read_expiry(std::string_view name) { return take_time(name, '-'); }

std::string StoreNodes::space(Space space) const { return (root_ + '/').append(word(space)); }

std::string StoreNodes::key(Space space, std::string_view key) const {
  return this->space(space) + '/' + encoded_component(key);
}

std::string StoreNodes::record(Space space, std::string_view key, std::string_view request) const {
  std::string path = root_ + "/audit/";
  path.append(word(space)).append(":").append(encoded_component(key)).append(":");
  return path.append(request);
}

std::vector<std::string> StoreNodes::ground() const {
  std::vector<std::string> paths;
  for (std::size_t at = root_.find('/', 1); at != std::string::npos; at = root_.find('/', at + 1)) {
    paths.push_back(root_.substr(0, at));
  }
  paths.push_back(root_);
  for (const Space one : {Space::values, Space::once}) paths.push_back(space(one));
  for (const char* const name : {"/expiring", "/audit", "/clock"}) paths.push_back(root_ + name);
  return paths;
}

}  // namespace holdfast::zookeeper
