#include "client/shown_etcd_url.h"

#include "base/percent.h"

namespace holdfast {
namespace {

void add(std::string& shown, const char* parameter, const std::string& value) {
  if (!value.empty()) shown += '&' + std::string{parameter} + '=' + percent_encode(value);
}

}  // namespace

std::string shown_etcd_url(const etcd::EtcdUrl& url) {
  const etcd::EtcdTarget& target = url.target;
  std::string shown = target.tls ? "etcds://" : "etcd://";
  if (!target.user.empty()) shown += percent_encode(target.user, "-._~") + '@';
  for (const etcd::Endpoint& endpoint : target.endpoints) {
    if (&endpoint != &target.endpoints.front()) shown += ',';
    shown += endpoint.text();
  }
  shown += "?prefix=" + percent_encode(url.prefix, "-._~:/");
  add(shown, "password_file", url.password_file);
  if (!target.tls) return shown;
  add(shown, "ca", target.tls->ca_file);
  add(shown, "cert", target.tls->cert_file);
  add(shown, "key", target.tls->key_file);
  add(shown, "servername", target.tls->server_name);
  return shown;
}

}  // namespace holdfast
