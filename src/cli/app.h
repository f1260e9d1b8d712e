// The `holdfast` command: parses the command line, does what it says, gives the exit code.

#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/command.h"

namespace holdfast::cli {

/// `arguments` without the program's name. Everything is printed when this returns.
int run_command_line(std::vector<std::string> arguments);

/// Adds every command and the options they share.
void configure(CLI::App& app, Invocation& invocation);

}  // namespace holdfast::cli
