#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/completions.h"
#include "cli/text.h"

namespace holdfast::cli {

void add_completion(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("completion", "Print the completion script of a shell");
  auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "bash or zsh")->required();
  command->footer(
      "\nExamples:\n"
      "  holdfast completion bash > /etc/bash_completion.d/holdfast\n"
      "  holdfast completion zsh > \"${fpath[1]}/_holdfast\"");
  command->callback([&invocation, shell] {
    invocation.action = [shell](Console& console) {
      if (*shell != "bash" && *shell != "zsh") {
        return console.fail({Errc::invalid_argument,
                             fmt::format("no completion for the shell '{}'", printable(*shell)),
                             "use: holdfast completion bash, or zsh"});
      }
      const std::string_view script = *shell == "bash" ? kBashCompletion : kZshCompletion;
      if (console.json()) {
        console.print(boost::json::object{{"shell", *shell}, {"script", script}});
      } else {
        console.print(script);
      }
      return to_int(ExitCode::ok);
    };
  });
}

}  // namespace holdfast::cli
