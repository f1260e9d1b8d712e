#include "client/redlock_url.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/invalid.h"
#include "base/percent.h"
#include "engines/redis/driver/redis_url.h"

namespace holdfast {
namespace {

constexpr std::size_t kNodesMin = 3;
constexpr std::string_view kForm =
    "write redlock://[user[:password]@]host[:port],host[:port],host[:port][/database]";

struct Scheme {
  std::string_view text;
  /// Of the URL of one node.
  std::string_view redis;
};
constexpr std::array<Scheme, 3> kSchemes{{{"redlock://", "redis://"},
                                          {"redlocks://", "rediss://"},
                                          {"redlock+unix://", "redis+unix://"}}};

bool begins_with(std::string_view url, std::string_view lower) {
  return std::ranges::equal(url.substr(0, lower.size()), lower, [](char given, char wanted) {
    return (given >= 'A' && given <= 'Z' ? given - 'A' + 'a' : given) == wanted;
  });
}

std::optional<Scheme> scheme_of(std::string_view url) {
  for (const Scheme& scheme : kSchemes) {
    if (begins_with(url, scheme.text)) return scheme;
  }
  return std::nullopt;
}

/// A Redlock URL in its parts: what stands between the nodes and around them.
struct Parts {
  std::string_view credentials;
  std::string_view nodes;
  std::string_view rest;
};

Parts parts_of(std::string_view text, bool is_unix) {
  const std::size_t end = std::min(text.find(is_unix ? "?" : "/"), text.find('?'));
  const std::size_t nodes_end = std::min(end, text.size());
  const std::size_t slash = std::min(text.find('/'), nodes_end);
  const std::size_t at = text.substr(0, slash).rfind('@');
  const std::size_t begin = at == std::string_view::npos ? 0 : at + 1;
  return {.credentials = text.substr(0, begin),
          .nodes = text.substr(begin, nodes_end - begin),
          .rest = text.substr(nodes_end)};
}

Result<void> add_node(RedlockUrl& url, const std::string& node) {
  auto parsed = redis::parse_redis_url(node);
  if (!parsed) return Unexpected{std::move(parsed).error()};
  const std::string name = parsed->target.node();
  const auto is_same = [&](const redis::RedisTarget& one) { return one.node() == name; };
  if (std::ranges::any_of(url.nodes, is_same)) {
    return invalid("the Redlock URL names " + name + " twice", "name every node once");
  }
  url.prefix = parsed->prefix;
  url.timeout = parsed->timeout;
  url.nodes.push_back(std::move(parsed->target));
  return {};
}

}  // namespace

bool is_redlock_url(std::string_view url) {
  return begins_with(url, "redlock:") || begins_with(url, "redlocks:") ||
         begins_with(url, "redlock+unix:");
}

std::vector<std::string> RedlockUrl::names() const {
  std::vector<std::string> names;
  for (const redis::RedisTarget& node : nodes) names.push_back(node.node());
  return names;
}

std::string RedlockUrl::shown() const {
  const redis::RedisTarget& first = nodes.front();
  const bool is_unix = !first.socket_path.empty();
  std::string shown = first.tls ? "redlocks://" : "redlock://";
  if (is_unix) shown = "redlock+unix://";
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    shown += (node == 0 ? "" : ",") + nodes[node].node();
  }
  if (!is_unix) shown += '/' + std::to_string(first.database);
  shown += "?prefix=" + percent_encode(prefix, "-._~:/");
  if (is_unix) shown += "&db=" + std::to_string(first.database);
  return shown;
}

Result<RedlockUrl> parse_redlock_url(std::string_view url) {
  const auto scheme = scheme_of(url);
  if (!scheme) {
    return invalid("the URL does not begin with redlock://, redlocks:// or redlock+unix://",
                   std::string{kForm});
  }
  url.remove_prefix(scheme->text.size());
  const Parts parts = parts_of(url, scheme->redis == "redis+unix://");
  RedlockUrl parsed{.nodes = {}, .prefix = {}, .timeout = {}};
  std::string_view nodes = parts.nodes;
  for (bool more = true; more;) {
    const std::size_t comma = nodes.find(',');
    const std::string_view node = nodes.substr(0, comma);
    more = comma != std::string_view::npos;
    if (more) nodes.remove_prefix(comma + 1);
    const std::string single = std::string{scheme->redis} + std::string{parts.credentials} +
                               std::string{node} + std::string{parts.rest};
    if (auto added = add_node(parsed, single); !added) return Unexpected{added.error()};
  }
  if (parsed.nodes.size() < kNodesMin) {
    return invalid("the Redlock URL names " + std::to_string(parsed.nodes.size()) +
                       (parsed.nodes.size() == 1 ? " node" : " nodes") +
                       ", and a majority that survives a failure needs three",
                   "name three or five nodes, or use redis:// for one");
  }
  return parsed;
}

}  // namespace holdfast
