// What administrators do to a set of Redlock nodes; for the command.
//
// Thread safety: any thread; calls block.

#pragma once

#include <stop_token>
#include <string_view>

#include "engines/redlock/founding.h"
#include "holdfast/result.h"

namespace holdfast {

/// As redlock::found_set(), for the nodes of the URL. `on_wait` is called on another thread.
Result<redlock::NodeSet> found_redlock(std::string_view url,
                                       redlock::Founding founding,
                                       redlock::OnWait on_wait,
                                       std::stop_token stop);

/// As redlock::rejoin_set(). `node`: as the URL names it, with its port.
Result<redlock::NodeSet> rejoin_redlock(std::string_view url,
                                        std::string_view node,
                                        redlock::OnWait on_wait,
                                        std::stop_token stop);

}  // namespace holdfast
