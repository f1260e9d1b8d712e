#include "engines/etcd/store/store_keys.h"

namespace holdfast::etcd {
namespace {

std::string in_prefix(std::string_view prefix, std::string_view what, Space space) {
  std::string key{prefix};
  key += '\x01';
  key += what;
  key += space == Space::values ? ":value:" : ":once:";
  return key;
}

}  // namespace

std::string mark_key(std::string_view prefix, Space space, std::string_view key) {
  return in_prefix(prefix, "mark", space).append(key);
}

std::string value_key(std::string_view prefix, Space space, std::string_view key) {
  return in_prefix(prefix, "store", space).append(key);
}

std::string record_key(std::string_view prefix,
                       Space space,
                       std::string_view key,
                       std::string_view request) {
  std::string record = in_prefix(prefix, "audit", space).append(key);
  record += '\x01';
  return record.append(request);
}

}  // namespace holdfast::etcd
