// Farewell: ends a session over its connection, when nobody has anything more to say.

#pragma once

#include "runtime/asio_env.h"

namespace holdfast::zookeeper {

/// Asks the server to end the session, and keeps the connection until it has done so, or for a few
/// seconds. Owns the descriptor. Precondition: all requests have left completely.
void say_farewell(runtime::AsioEnv& env, int descriptor);

}  // namespace holdfast::zookeeper
