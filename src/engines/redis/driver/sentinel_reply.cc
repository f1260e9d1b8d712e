#include "engines/redis/driver/sentinel_reply.h"

#include <algorithm>

#include "base/decimal.h"

namespace holdfast::redis {

std::optional<Address> read_master_address(const Reply& reply) {
  if (reply.kind != Reply::Kind::array || reply.items.size() != 2) return std::nullopt;
  const auto port = parse_decimal<std::uint16_t>(reply.items[1].text);
  if (!port || *port == 0 || reply.items[0].text.empty()) return std::nullopt;
  return Address{reply.items[0].text, *port};
}

bool is_master(const Reply& role) { return !role.items.empty() && role.items[0].text == "master"; }

void SentinelVotes::count(const std::optional<Address>& vote) {
  --left_;
  if (vote) ++votes_[*vote];
}

std::optional<Address> SentinelVotes::winner() const {
  const auto by_votes = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto most = std::ranges::max_element(votes_, by_votes);
  if (most == votes_.end()) return std::nullopt;
  if (most->second * 2 > sentinels_ || complete()) return most->first;
  return std::nullopt;
}

}  // namespace holdfast::redis
