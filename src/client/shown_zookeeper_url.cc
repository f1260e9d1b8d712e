#include "client/shown_zookeeper_url.h"

#include "base/percent.h"
#include "client/shown_url.h"
#include "engines/zookeeper/zookeeper_nodes.h"

namespace holdfast {

std::string shown_zookeeper_url(const zookeeper::ZookeeperUrl& url) {
  const zookeeper::ZookeeperTarget& target = url.target;
  std::string shown = "zookeeper://" + shown_servers(target.user, target.endpoints);
  shown += percent_encode(target.chroot, "-._~:/");
  shown += "?prefix=" + percent_encode(url.prefix, "-._~:/");
  if (url.layout != zookeeper::Layout::curator) {
    add_parameter(shown, "layout", std::string{zookeeper::to_string(url.layout)});
  }
  if (target.acl == zookeeper::Acl::creator) add_parameter(shown, "acl", "creator");
  add_parameter(shown, "password_file", url.password_file);
  return shown;
}

}  // namespace holdfast
