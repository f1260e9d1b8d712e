// Whether this process has been forked off since some moment: a child shares its parent's memory
// but none of its threads, sessions or locks.

#pragma once

#include <cstdint>

namespace holdfast {

/// Changes in every child. Thread safety: any thread; no system call after the first.
std::uint32_t fork_generation() noexcept;

}  // namespace holdfast
