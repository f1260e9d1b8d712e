// What tells one run of a machine from another.

#pragma once

#include <array>
#include <cstdint>

namespace holdfast::local {

/// The kernel's random id of this boot, as text; empty where it cannot be read.
std::array<char, 40> boot_id();

/// A number that two processes share if and only if their boot-time clocks agree.
std::uint64_t time_namespace();

}  // namespace holdfast::local
