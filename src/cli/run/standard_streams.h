// Lets go of stdin and stdout once they belong to the program of a run.

#pragma once

namespace holdfast::cli {

/// Both become /dev/null in this process: whoever is at the other end of a pipe sees it closed when
/// the program closes it, not when Holdfast ends. stderr stays, for messages.
void leave_standard_streams();

}  // namespace holdfast::cli
