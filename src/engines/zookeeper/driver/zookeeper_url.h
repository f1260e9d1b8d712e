// ZooKeeper URLs, such as `zookeeper://app:secret@a.example,b.example:2181/apps?layout=kazoo`.

#pragma once

#include <string>
#include <string_view>

#include "engines/zookeeper/driver/zookeeper_target.h"
#include "engines/zookeeper/zookeeper_nodes.h"
#include "holdfast/result.h"

namespace holdfast::zookeeper {

/// What a URL says.
struct ZookeeperUrl {
  ZookeeperTarget target;
  /// Where the password was read, if anywhere.
  std::string password_file{};
  /// The node below which the locks are. Empty: names are paths.
  std::string prefix{"/hf"};
  Layout layout{Layout::curator};
  /// Per operation; also how long connecting may take.
  Millis timeout{std::chrono::seconds{5}};
};

/// `zookeeper://[user[:password]@]host[:port][,host[:port]…][/chroot]`. What stands between the
/// separators is percent-encoded; an IPv6 address stands in brackets.
///
/// Parameters: prefix, layout, timeout, acl, password_file. The password of a user that is neither
/// in the URL nor in a file is taken from the environment, HOLDFAST_ZOOKEEPER_PASSWORD.
///
/// invalid_argument: the URL is wrong, and the message says where. unsupported: it asks for TLS or
/// SASL. io_error: the password file cannot be read. Messages never quote the parts that may hold
/// credentials.
Result<ZookeeperUrl> parse_zookeeper_url(std::string_view url);

/// Whether it begins as a ZooKeeper URL does.
bool is_zookeeper_url(std::string_view url);

}  // namespace holdfast::zookeeper
