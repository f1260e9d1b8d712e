// What a ZooKeeper server says to a four-letter word, such as `mntr`.

#pragma once

#include <string>
#include <string_view>

#include "core/server_url.h"
#include "holdfast/clock.h"
#include "holdfast/result.h"

namespace holdfast::zookeeper {

/// Blocks for up to `timeout`. unavailable: it does not answer.
Result<std::string> four_letter_word(const core::Endpoint& endpoint,
                                     std::string_view word,
                                     Duration timeout);

}  // namespace holdfast::zookeeper
