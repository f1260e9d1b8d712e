#include "engines/zookeeper/driver/zookeeper_url.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/invalid.h"
#include "base/url_timeout.h"
#include "core/server_url.h"
#include "core/url_text.h"
#include "engines/zookeeper/driver/request_check.h"

namespace holdfast::zookeeper {
namespace {

constexpr core::UrlWords kWords{
    .engine = "ZooKeeper",
    .form = "write zookeeper://[user[:password]@]host[:port][,host[:port]...][/chroot]",
    .with_user = "zookeeper://user@host",
    .port = 2181,
    .password_variable = "HOLDFAST_ZOOKEEPER_PASSWORD"};

Unexpected<Error> beyond_the_client(std::string_view what) {
  return Unexpected{Error{Errc::unsupported,
                          "the ZooKeeper URL asks for " + std::string{what} +
                              ", which ZooKeeper's client library was built without",
                          "use digest authentication, and a tunnel where the network is not safe"}};
}

/// A path of its own from `text`, with or without slashes around it; empty for none.
std::optional<std::string> path_from(std::string_view text) {
  while (text.starts_with('/')) text.remove_prefix(1);
  while (text.ends_with('/')) text.remove_suffix(1);
  if (text.empty()) return "";
  std::string path = '/' + std::string{text};
  return is_path(path) ? std::optional{std::move(path)} : std::nullopt;
}

Result<void> apply_timeout(ZookeeperUrl& url, const std::string& value) {
  const auto timeout = parse_url_timeout(value);
  if (!timeout) return Unexpected{timeout.error()};
  url.timeout = *timeout;
  url.target.connect_timeout = *timeout;
  return {};
}

Result<void> apply_prefix(ZookeeperUrl& url, const std::string& value) {
  auto path = path_from(value);
  if (!path) {
    return invalid("the parameter prefix of the ZooKeeper URL is no path of a node",
                   "use components that are neither empty, . nor .., without control characters");
  }
  url.prefix = *std::move(path);
  return {};
}

Result<void> apply_layout(ZookeeperUrl& url, const std::string& value) {
  const auto layout = parse_layout(value);
  if (!layout) {
    return invalid("the ZooKeeper URL has a layout that nobody knows",
                   "the layouts are curator, curator-rw and kazoo");
  }
  url.layout = *layout;
  return {};
}

Result<void> apply_acl(ZookeeperUrl& url, const std::string& value) {
  if (value != "open" && value != "creator") {
    return invalid("the parameter acl of the ZooKeeper URL is neither open nor creator",
                   "write acl=creator to let nobody else touch the nodes");
  }
  url.target.acl = value == "creator" ? Acl::creator : Acl::open;
  return {};
}

Result<void> apply_password_file(ZookeeperUrl& url, const std::string& value) {
  url.password_file = value;
  return {};
}

Result<void> refuse_tls(ZookeeperUrl&, const std::string&) { return beyond_the_client("TLS"); }
Result<void> refuse_sasl(ZookeeperUrl&, const std::string&) { return beyond_the_client("SASL"); }

struct Parameter {
  std::string_view key;
  Result<void> (*apply)(ZookeeperUrl&, const std::string&);
};
constexpr std::array<Parameter, 10> kParameters{{{"prefix", &apply_prefix},
                                                 {"layout", &apply_layout},
                                                 {"timeout", &apply_timeout},
                                                 {"acl", &apply_acl},
                                                 {"password_file", &apply_password_file},
                                                 {"ca", &refuse_tls},
                                                 {"cert", &refuse_tls},
                                                 {"key", &refuse_tls},
                                                 {"servername", &refuse_tls},
                                                 {"sasl", &refuse_sasl}}};

Result<void> apply_parameter(ZookeeperUrl& url, std::string_view text) {
  const bool has_value = text.find('=') != std::string_view::npos;
  const std::string key{core::cut(text, '=')};
  const auto known = std::ranges::find(kParameters, key, &Parameter::key);
  if (known == kParameters.end()) {
    return invalid("ZooKeeper URLs have no parameter '" + key + "'",
                   "the parameters are prefix, layout, timeout, acl and password_file");
  }
  const auto value = core::parameter_value(key, has_value ? std::optional{text} : std::nullopt);
  if (!value) return Unexpected{value.error()};
  return known->apply(url, *value);
}

/// What stood before the parameters is known, and they are.
Result<void> apply_address(ZookeeperUrl& url, core::ServerAddress address) {
  auto chroot = core::decode_url_text(address.path);
  if (chroot) chroot = path_from(*chroot);
  if (!chroot) {
    return invalid("what stands after the servers of the ZooKeeper URL is no path of a node",
                   "write the node to start from, such as /apps");
  }
  auto password = core::find_password(kWords, address, url.password_file);
  if (!password) return Unexpected{std::move(password).error()};
  ZookeeperTarget& target = url.target;
  target.chroot = *std::move(chroot);
  target.endpoints = std::move(address.endpoints);
  target.user = std::move(address.user);
  target.password = *std::move(password);
  if (target.acl == Acl::creator && target.user.empty()) {
    return invalid("the ZooKeeper URL has acl=creator and no user",
                   "write " + std::string{kWords.with_user});
  }
  if (target.user.find(':') != std::string::npos) {
    return invalid("the user of the ZooKeeper URL has a colon", "use another user");
  }
  return {};
}

}  // namespace

bool is_zookeeper_url(std::string_view url) {
  return core::has_scheme(url, "zookeeper:") || core::has_scheme(url, "zookeepers:");
}

Result<ZookeeperUrl> parse_zookeeper_url(std::string_view text) {
  if (core::has_scheme(text, "zookeepers://")) return beyond_the_client("TLS");
  if (!core::has_scheme(text, "zookeeper://")) {
    return invalid("the URL does not begin with zookeeper://", std::string{kWords.form});
  }
  text.remove_prefix(text.find("://") + 3);
  ZookeeperUrl url;
  auto address = core::read_server_address(kWords, core::cut(text, '?'));
  if (!address) return Unexpected{std::move(address).error()};
  while (!text.empty()) {
    if (auto applied = apply_parameter(url, core::cut(text, '&')); !applied) {
      return Unexpected{std::move(applied).error()};
    }
  }
  if (auto applied = apply_address(url, *std::move(address)); !applied) {
    return Unexpected{std::move(applied).error()};
  }
  return url;
}

}  // namespace holdfast::zookeeper
