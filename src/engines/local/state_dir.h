// Where the local engine keeps its state.

#pragma once

#include <string>

#include "holdfast/result.h"

namespace holdfast::local {

/// root: /var/lib/holdfast; others: $XDG_STATE_HOME/holdfast or ~/.local/state/holdfast.
/// invalid_argument when neither variable tells where the home directory is.
Result<std::string> default_directory();

/// Makes the directory and its parents (mode 0700) where they are missing, and refuses file systems
/// that do not share memory with every process on the machine.
/// denied, io_error, no_space: the operating system's word; unsupported: a network file system.
Result<void> prepare_directory(const std::string& directory);

/// Whether statfs's f_type is a file system whose files may be mapped on other machines.
bool is_network_file_system(long type);

/// An Error for errno as `action` on `path` left it: denied, no_space, io_error.
Error os_error(const std::string& action, const std::string& path, int code);

}  // namespace holdfast::local
