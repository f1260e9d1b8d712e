// Where the store has things. Locks have no control characters in their names: none can have these
// keys.

#pragma once

#include <string>
#include <string_view>

#include "core/store_backend.h"

namespace holdfast::etcd {

std::string mark_key(std::string_view prefix, Space space, std::string_view key);
std::string value_key(std::string_view prefix, Space space, std::string_view key);
/// Of what an administrator did to the key in this request.
std::string record_key(std::string_view prefix,
                       Space space,
                       std::string_view key,
                       std::string_view request);

}  // namespace holdfast::etcd
