// Memory of the state file: typed free lists over a heap that grows.
//
// Thread safety: any thread of any process. A process killed between taking a piece and using it
// loses that piece until the file is next opened by nobody else.

#pragma once

#include "engines/local/layout.h"
#include "engines/local/state_file.h"
#include "holdfast/result.h"

namespace holdfast::local {

/// Size of one piece, in units.
std::uint32_t units_of(Kind kind);

/// The kind of slot or note that has room for this many bytes after its head.
Kind slot_kind(std::size_t name_bytes);
Kind note_kind(std::size_t text_bytes);

/// A piece off the free list, or fresh zeroed memory. Its versioned words carry on where they were.
/// no_space, io_error: the file cannot grow.
Result<Ref> allocate(StateFile& file, Kind kind);

/// Puts a piece on its free list. Nothing may lead to it any more but stale reads.
void recycle(StateFile& file, Kind kind, Ref ref);

}  // namespace holdfast::local
