#include "engines/etcd/etcd_messages.h"

#include <utility>

namespace holdfast::etcd {

KeyRange starting_with(std::string prefix) {
  // The first key after all of them: the last byte that can be raised, raised.
  std::string end = prefix;
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xff) end.pop_back();
  if (end.empty()) {
    end.assign(1, '\0');
    if (prefix.empty()) prefix.assign(1, '\0');
  } else {
    end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  }
  return {.key = std::move(prefix), .end = std::move(end)};
}

}  // namespace holdfast::etcd
