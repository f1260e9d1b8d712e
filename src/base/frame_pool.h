// Memory for the frames of tasks.
//
// Tasks begin and end all the time, with few sizes of frame, most of them above what malloc keeps
// at hand for a thread. So each thread keeps what was freed on it, some of every size, until it
// ends. Under sanitizers nothing is kept, so that they see every use of a frame that is gone.
//
// Thread safety: any thread. A frame may be freed on another thread than it was taken on.

#pragma once

#include <cstddef>

namespace holdfast {

void* take_frame(std::size_t size);
/// `size` is what it was taken with.
void free_frame(void* frame, std::size_t size) noexcept;

}  // namespace holdfast
