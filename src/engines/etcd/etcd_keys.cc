#include "engines/etcd/etcd_keys.h"

#include <charconv>

#include "base/percent.h"

namespace holdfast::etcd {
namespace {

constexpr std::string_view kPlain = "-._~:";
constexpr std::size_t kFingerprintDigits = 16;

bool is_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

LeaseId lease_of(std::string_view hex) {
  LeaseId lease;
  const auto read = std::from_chars(hex.data(), hex.data() + hex.size(), lease.number, 16);
  const bool whole = read.ec == std::errc{} && read.ptr == hex.data() + hex.size();
  return whole && lease.number > 0 && is_hex(hex) ? lease : LeaseId{};
}

}  // namespace

std::string hex_of(LeaseId lease) {
  char text[16];
  const auto end = std::to_chars(text, text + sizeof text, lease.number, 16).ptr;
  return {text, end};
}

std::string Keys::encoded(std::string_view name) const {
  return prefix_.empty() ? std::string{name} : percent_encode(name, kPlain);
}

std::string Keys::contender(const LockName& name, LeaseId lease, std::string_view owner_fp) const {
  return contenders(name).key + hex_of(lease) + '-' + std::string{owner_fp};
}

KeyRange Keys::contenders(const LockName& name) const {
  return starting_with(prefix_ + encoded(name.text()) + '/');
}

KeyRange Keys::locks(std::string_view name_prefix) const {
  KeyRange range = starting_with(prefix_ + encoded(name_prefix));
  // What is kept beside the locks comes before all of them.
  if (name_prefix.empty()) range.key = prefix_ + '\x02';
  return range;
}

std::string Keys::broken(const LockName& name, std::string_view owner_fp) const {
  return beside("broken/", name, owner_fp);
}

std::string Keys::given_up(const LockName& name, std::string_view owner_fp) const {
  return beside("given_up/", name, owner_fp);
}

std::string Keys::beside(std::string_view what,
                         const LockName& name,
                         std::string_view owner_fp) const {
  return prefix_ + '\x01' + std::string{what} + encoded(name.text()) + '/' + std::string{owner_fp};
}

std::optional<ContenderKey> Keys::read(std::string_view key) const {
  if (!key.starts_with(prefix_)) return std::nullopt;
  key.remove_prefix(prefix_.size());
  const std::size_t slash = key.rfind('/');
  if (slash == std::string_view::npos || slash == 0 || key.front() == '\x01') return std::nullopt;
  std::string_view hex = key.substr(slash + 1);
  std::string owner_fp;
  if (const std::size_t dash = hex.find('-'); dash != std::string_view::npos) {
    owner_fp = hex.substr(dash + 1);
    hex = hex.substr(0, dash);
    if (owner_fp.size() != kFingerprintDigits || !is_hex(owner_fp)) return std::nullopt;
  }
  const LeaseId lease = lease_of(hex);
  if (lease == LeaseId{}) return std::nullopt;
  const std::string_view written = key.substr(0, slash);
  auto name = prefix_.empty() ? std::string{written} : percent_decode(written);
  if (!name || name->empty()) return std::nullopt;
  return ContenderKey{
      .name = LockName{*std::move(name)}, .lease = lease, .owner_fp = std::move(owner_fp)};
}

}  // namespace holdfast::etcd
