#include "client/shown_redis_url.h"

#include "base/percent.h"
#include "client/shown_url.h"

namespace holdfast {
namespace {

using redis::RedisUrl;

std::string nodes_of(const RedisUrl& url) {
  std::string shown;
  for (const redis::Address& address : url.nodes) {
    if (!shown.empty()) shown += ',';
    shown += redis::RedisTarget{.host = address.host, .port = address.port}.node();
  }
  return shown;
}

std::string scheme_of(const RedisUrl& url) {
  if (!url.target.socket_path.empty()) return "redis+unix://";
  const std::string scheme = url.target.tls ? "rediss" : "redis";
  if (url.kind == RedisUrl::Kind::cluster) return scheme + "+cluster://";
  return scheme + (url.kind == RedisUrl::Kind::sentinel ? "+sentinel://" : "://");
}

std::string address_of(const RedisUrl& url) {
  if (url.kind == RedisUrl::Kind::cluster) return nodes_of(url);
  if (url.kind == RedisUrl::Kind::sentinel) {
    return nodes_of(url) + '/' + percent_encode(url.master_name);
  }
  const redis::RedisTarget& target = url.target;
  if (!target.socket_path.empty()) return percent_encode(target.socket_path);
  return target.node() + '/' + std::to_string(target.database);
}

}  // namespace

std::string shown_redis_url(const RedisUrl& url) {
  const redis::RedisTarget& target = url.target;
  std::string shown = scheme_of(url);
  if (!target.user.empty()) shown += percent_encode(target.user, "-._~") + '@';
  shown += address_of(url) + "?prefix=" + percent_encode(url.prefix, "-._~:/");
  const bool has_db = !target.socket_path.empty() || url.kind == RedisUrl::Kind::sentinel;
  if (has_db) add_parameter(shown, "db", std::to_string(target.database));
  add_parameter(shown, "password_file", url.password_file);
  add_parameter(shown, "sentinel_user", url.sentinel_user);
  add_parameter(shown, "sentinel_password_file", url.sentinel_password_file);
  if (!target.tls) return shown;
  add_parameter(shown, "ca", target.tls->ca_file);
  add_parameter(shown, "cert", target.tls->cert_file);
  add_parameter(shown, "key", target.tls->key_file);
  add_parameter(shown, "servername", target.tls->server_name);
  return shown;
}

}  // namespace holdfast
