// What a contender tells people about itself, kept beside its record.

#pragma once

#include <string>
#include <string_view>

#include "engines/local/layout.h"
#include "engines/local/state_file.h"
#include "holdfast/result.h"

namespace holdfast::local {

struct NoteText {
  std::string host;
  std::string label;
  std::string trace_id;
};

/// no_space, io_error: the file cannot grow. 0 when there is nothing to tell.
Result<Ref> write_note(StateFile& file,
                       std::string_view host,
                       std::string_view label,
                       std::string_view trace_id);

/// The text as it stands; the caller checks that the contender has not changed meanwhile.
NoteText read_note(StateFile& file, Ref note);

/// Does nothing for 0.
void free_note(StateFile& file, Ref note);

}  // namespace holdfast::local
