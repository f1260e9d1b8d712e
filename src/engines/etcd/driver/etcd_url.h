// etcd URLs, such as `etcds://app:secret@a.example,b.example:2379?prefix=app/&ca=/etc/ca.pem`.

#pragma once

#include <string>
#include <string_view>

#include "engines/etcd/driver/etcd_target.h"
#include "holdfast/result.h"

namespace holdfast::etcd {

/// What a URL says.
struct EtcdUrl {
  EtcdTarget target;
  /// Where the password was read, if anywhere.
  std::string password_file{};
  /// Put before every lock name.
  std::string prefix{"hf/"};
  /// Per operation; also how long connecting may take.
  Millis timeout{std::chrono::seconds{5}};
};

/// `etcd://[user[:password]@]host[:port][,host[:port]…][/]`, and `etcds://…` for TLS. What stands
/// between the separators is percent-encoded; an IPv6 address stands in brackets.
///
/// Parameters: prefix, timeout, password_file; ca, cert, key and servername for TLS. The password
/// of a user that is neither in the URL nor in a file is taken from the environment,
/// HOLDFAST_ETCD_PASSWORD.
///
/// invalid_argument: the URL is wrong, and the message says where. io_error: the password file
/// cannot be read. Messages never quote the parts that may hold credentials.
Result<EtcdUrl> parse_etcd_url(std::string_view url);

/// Whether it begins as an etcd URL does.
bool is_etcd_url(std::string_view url);

}  // namespace holdfast::etcd
