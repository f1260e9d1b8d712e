// What the C client's codes mean to whoever sent a request.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "engines/zookeeper/zookeeper_messages.h"

namespace holdfast::zookeeper {

/// An error whose message names the server.
Error error_at(std::string_view server, Errc code, std::string_view what);

/// Of a code that is an answer. Empty: it is a failure.
std::optional<Verdict> verdict_of(int code);

/// Of a code that is none; `path` is what was asked for. unknown_outcome: the connection broke.
Error failure_of(std::string_view server, int code, std::string_view path);

/// Adds to an unknown_outcome what it may come from if the request was a large one: servers hang up
/// on what they do not take.
void explain_size(Error& error, std::size_t request_bytes);

/// As cause_in() says it.
inline constexpr std::string_view kClosed = "it closed the connection";

/// What a message of the client's log says the system said; empty when it says nothing.
std::string cause_in(std::string_view log_message);

/// The server that such a message names; empty when it names none.
std::string server_in(std::string_view log_message);

/// Whether bytes may be the beginning of a server's answer to a connection request.
bool begins_as_zookeeper(std::string_view bytes);

}  // namespace holdfast::zookeeper
