// Whether a request can be sent at all.

#pragma once

#include <cstddef>
#include <string_view>

#include "engines/zookeeper/zookeeper_messages.h"

namespace holdfast::zookeeper {

/// As servers see it. A path that is to be numbered may end in a slash.
bool is_path(std::string_view path, Create::Kind kind = Create::Kind::persistent);

/// About how many bytes a request has on its way, never too few. `chroot` is put before paths.
std::size_t bytes_of(const Request& request, std::string_view chroot);

/// The path, or the first of several.
std::string_view path_of(const Request& request);

/// invalid_argument: a path is not valid, or the request is larger than `most`.
Result<void> check_request(const Request& request, std::string_view chroot, std::size_t most);

}  // namespace holdfast::zookeeper
