#include "client/shown_etcd_url.h"

#include "base/percent.h"
#include "client/shown_url.h"

namespace holdfast {
std::string shown_etcd_url(const etcd::EtcdUrl& url) {
  const etcd::EtcdTarget& target = url.target;
  std::string shown = target.tls ? "etcds://" : "etcd://";
  shown += shown_servers(target.user, target.endpoints);
  shown += "?prefix=" + percent_encode(url.prefix, "-._~:/");
  add_parameter(shown, "password_file", url.password_file);
  if (!target.tls) return shown;
  add_parameter(shown, "ca", target.tls->ca_file);
  add_parameter(shown, "cert", target.tls->cert_file);
  add_parameter(shown, "key", target.tls->key_file);
  add_parameter(shown, "servername", target.tls->server_name);
  return shown;
}

}  // namespace holdfast
