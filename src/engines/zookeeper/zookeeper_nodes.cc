#include "engines/zookeeper/zookeeper_nodes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "base/decimal.h"
#include "base/hex.h"
#include "base/percent.h"

namespace holdfast::zookeeper {
namespace {

constexpr std::string_view kPlain = "-._~:";
constexpr std::string_view kProtected = "_c_";
constexpr std::string_view kPermit = "permit";
constexpr std::string_view kShared = "shared-";
constexpr std::size_t kIdDigits = 32;
constexpr std::size_t kFingerprintDigits = 16;

/// What stands before the number, and what it says.
struct Mark {
  std::string_view text;
  Mode mode;
};

constexpr std::array<Mark, 5> kMarks{{{"__rlock__", Mode::shared},
                                      {"__lock__", Mode::exclusive},
                                      {"__READ__", Mode::shared},
                                      {"__WRIT__", Mode::exclusive},
                                      {"lock-", Mode::exclusive}}};

bool is_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string with_dashes(std::string_view id) {
  std::string uuid{id};
  for (const std::size_t at : {20U, 16U, 12U, 8U}) {
    if (at < uuid.size()) uuid.insert(at, 1, '-');
  }
  return uuid;
}

/// The id that begins a contender's name, and what follows it.
std::string take_id(std::string_view& text) {
  const bool dashes = text.starts_with(kProtected);
  const std::string_view rest = dashes ? text.substr(kProtected.size()) : text;
  const std::size_t size = dashes ? kIdDigits + 4 : kIdDigits;
  if (rest.size() < size) return {};
  std::string id{rest.substr(0, size)};
  if (dashes) std::erase(id, '-');
  if (id.size() != kIdDigits || !is_hex(id)) return {};
  text = rest.substr(size);
  return id;
}

/// As our own contenders say more than the mark does.
core::Claim read_claim(std::string_view between, Mode mode) {
  while (between.starts_with('-') || between.starts_with('_')) between.remove_prefix(1);
  if (between.starts_with(kShared)) return {.mode = Mode::shared};
  if (!between.starts_with(kPermit)) return {.mode = mode};
  between.remove_prefix(kPermit.size());
  while (between.ends_with('-')) between.remove_suffix(1);
  const auto permits = parse_decimal<std::uint32_t>(between);
  if (!permits || *permits == 0) return {.mode = mode};
  return {.mode = Mode::permit, .permits = *permits};
}

std::optional<std::int32_t> read_sequence(std::string_view text) {
  std::int32_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = read.ec == std::errc{} && read.ptr == text.data() + text.size();
  return whole && text.size() >= 10 ? std::optional{number} : std::nullopt;
}

/// As ZooKeeper does not take them: controls, and what is no character.
bool has_refused_bytes(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (byte < 0x20 || byte == 0x7f) return true;
    if (byte == 0xc2 && next < 0xa0) return true;
    // U+D800 to U+F8FF, and U+FFF0 to U+FFFF.
    if (byte == 0xee || (byte == 0xed && next >= 0xa0) || (byte == 0xef && next < 0xa4))
      return true;
    if (byte == 0xef && next == 0xbf && i + 2 < text.size() &&
        static_cast<unsigned char>(text[i + 2]) >= 0xb0) {
      return true;
    }
  }
  return false;
}

bool is_path(std::string_view path) {
  if (path.size() < 2 || path.front() != '/') return false;
  path.remove_prefix(1);
  for (;;) {
    const std::size_t slash = path.find('/');
    if (!is_component(path.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

}  // namespace

std::string_view to_string(Layout layout) noexcept {
  switch (layout) {
    case Layout::curator:
      return "curator";
    case Layout::curator_rw:
      return "curator-rw";
    case Layout::kazoo:
      return "kazoo";
  }
  return "unknown";
}

std::optional<Layout> parse_layout(std::string_view text) noexcept {
  for (const Layout layout : {Layout::curator, Layout::curator_rw, Layout::kazoo}) {
    if (to_string(layout) == text) return layout;
  }
  return std::nullopt;
}

std::string contender_prefix(Layout layout, const core::Claim& claim, std::string_view id) {
  const bool shared = claim.mode == Mode::shared;
  std::string permit;
  if (claim.mode == Mode::permit) permit = std::string{kPermit} + std::to_string(claim.permits);
  if (layout == Layout::kazoo) {
    if (shared) return std::string{id} + "__rlock__";
    return std::string{id} + (permit.empty() ? permit : '_' + permit) + "__lock__";
  }
  const std::string begin = std::string{kProtected} + with_dashes(id) + '-';
  if (!permit.empty()) permit += '-';
  if (layout == Layout::curator_rw) return begin + permit + (shared ? "__READ__" : "__WRIT__");
  return begin + permit + (shared ? std::string{kShared} : std::string{}) + "lock-";
}

std::optional<ContenderName> read_contender(std::string_view child) {
  for (const Mark& mark : kMarks) {
    const std::size_t at = child.rfind(mark.text);
    if (at == std::string_view::npos) continue;
    const auto sequence = read_sequence(child.substr(at + mark.text.size()));
    if (!sequence) continue;
    std::string_view before = child.substr(0, at);
    ContenderName name{.id = take_id(before), .sequence = *sequence};
    name.claim = name.id.empty() ? core::Claim{.mode = mark.mode} : read_claim(before, mark.mode);
    return name;
  }
  return std::nullopt;
}

std::vector<Child> in_order(const std::vector<std::string>& children) {
  std::vector<Child> found;
  for (const std::string& child : children) {
    if (auto contender = read_contender(child)) found.push_back({child, *std::move(contender)});
  }
  if (found.empty()) return found;
  // Seen from any one of them the others are less than half of all numbers away, wherever they
  // wrap.
  const auto from = static_cast<std::uint32_t>(found.front().contender.sequence);
  const auto distance = [from](const Child& child) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(child.contender.sequence) - from);
  };
  std::ranges::sort(found, [&](const Child& one, const Child& other) {
    const std::int32_t a = distance(one);
    const std::int32_t b = distance(other);
    return a == b ? one.name < other.name : a < b;
  });
  return found;
}

bool numbers_tell(const std::vector<Child>& ordered) {
  constexpr std::int32_t kLast = std::numeric_limits<std::int32_t>::max();
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    const std::int32_t number = ordered[i].contender.sequence;
    if (number < 0 || number == kLast) return false;
    if (i > 0 && number == ordered[i - 1].contender.sequence) return false;
  }
  return true;
}

std::string contender_id(std::string_view owner_fp, std::uint64_t draw) {
  std::array<std::uint8_t, 8> bytes{};
  for (std::uint8_t& byte : bytes) {
    byte = static_cast<std::uint8_t>(draw);
    draw >>= 8;
  }
  return std::string{owner_fp} + to_hex(bytes);
}

std::string owner_fp_of(std::string_view id) {
  return id.size() == kIdDigits ? std::string{id.substr(0, kFingerprintDigits)} : std::string{};
}

Nodes::Nodes(std::string_view prefix) {
  while (prefix.starts_with('/')) prefix.remove_prefix(1);
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  if (!prefix.empty()) prefix_ = '/' + std::string{prefix};
}

Result<std::string> Nodes::lock(const LockName& name) const {
  const std::string& text = name.text();
  if (!prefix_.empty()) return prefix_ + '/' + encoded_component(text);
  std::string path = text.starts_with('/') ? text : '/' + text;
  if (is_path(path)) return path;
  return Unexpected{Error{Errc::invalid_argument,
                          "\"" + text + "\" is no path of a ZooKeeper node",
                          "use a prefix: behind it, every name is allowed"}};
}

std::optional<LockName> Nodes::read(std::string_view child) const {
  auto name = prefix_.empty() ? std::string{child} : percent_decode(child);
  const bool none = !name || name->empty() || (prefix_.empty() && child.starts_with('%'));
  // An encoding that is not ours is another program's node.
  if (none || (!prefix_.empty() && encoded_component(*name) != child)) return std::nullopt;
  return LockName{*std::move(name)};
}

std::string Nodes::beside(std::string_view what) const {
  return prefix_ + "/%" + std::string{what};
}

bool is_component(std::string_view text) {
  return !text.empty() && text != "." && text != ".." && !has_refused_bytes(text) &&
         text.find('/') == std::string_view::npos;
}

std::string encoded_component(std::string_view name) {
  if (name == ".") return "%2e";
  if (name == "..") return "%2e%2e";
  return percent_encode(name, kPlain);
}

std::string parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos || slash == 0 ? "/" : std::string{path.substr(0, slash)};
}

}  // namespace holdfast::zookeeper
