// HOLDFAST_ASSERT: a broken invariant of ours stops the process, in every build.
//
// For defects in Holdfast only. Bad input, full disks and dead servers are values, never asserts.

#pragma once

namespace holdfast {

/// Prints the broken condition with its place and aborts.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line) noexcept;

}  // namespace holdfast

#define HOLDFAST_ASSERT(condition)                   \
  (__builtin_expect(static_cast<bool>(condition), 1) \
       ? static_cast<void>(0)                        \
       : ::holdfast::assertion_failed(#condition, __FILE__, __LINE__))
