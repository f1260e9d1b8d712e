// Fresh secrets without a system call each: ChaCha20 per thread, seeded by the kernel.
//
// Thread safety: any thread. After fork() the child reseeds, so that parent and child never draw
// the same secret.

#pragma once

#include "holdfast/token.h"

namespace holdfast {

Owner fresh_owner();

}  // namespace holdfast
