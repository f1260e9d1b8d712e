// A view of an engine in which every lock name begins with a fixed prefix.

#pragma once

#include <memory>
#include <string>

#include "core/backend.h"

namespace holdfast {

/// The engine `inner` with `prefix` before every name: the caller sees names without it, and
/// nothing of the locks that do not begin with it. The prefix is part of engine() and domain().
/// A name that is too long with its prefix is invalid_argument.
std::shared_ptr<Backend> with_prefix(std::shared_ptr<Backend> inner, std::string prefix);

}  // namespace holdfast
