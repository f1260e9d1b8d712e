// Opens the engine behind a redlock:, redlocks: or redlock+unix: URL.

#pragma once

#include <memory>
#include <string_view>

#include "core/backend.h"

namespace holdfast {

/// Learns which set of nodes it is, from a majority; the other nodes may come later.
/// invalid_argument: the URL, or it names other nodes than those of the set. unavailable: too few
/// nodes answer within its timeout, or belong to one set; with what each said. denied: the servers
/// do not let us in.
Result<std::shared_ptr<Backend>> open_redlock(std::string_view url);

}  // namespace holdfast
