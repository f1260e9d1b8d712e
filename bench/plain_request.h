// A request in plain text to a server on loopback, such as one for its figures.

#pragma once

#include <cstdint>
#include <string>

namespace holdfast::bench {

/// All that it says until it hangs up. Empty: nobody answers.
std::string plain_request(std::uint16_t port, const std::string& request);

}  // namespace holdfast::bench
