// Ports of this machine for servers of the test's own.

#pragma once

#include <cstdint>
#include <string>

namespace holdfast::servers {

/// A loopback port nobody listens on at this moment, outside the range that connections draw from.
std::uint16_t free_port();

/// All that a server on loopback says to a request until it hangs up; empty when there is nothing
/// within a second.
std::string ask(std::uint16_t port, const std::string& request);

}  // namespace holdfast::servers
