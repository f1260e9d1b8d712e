// Servers that refuse to run as root run as the user that Debian's package has made for them.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace holdfast::postgres {

/// The command as the user `postgres` if we are root; as it is otherwise. It stays one process, and
/// ends with the thread that started it.
std::vector<std::string> as_server_user(std::vector<std::string> command);

/// What is there belongs to that user from now on, and nobody else may read it.
void give_to_server_user(const std::filesystem::path& path);

}  // namespace holdfast::postgres
