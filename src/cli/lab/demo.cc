#include "cli/lab/demo.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace holdfast::cli {
namespace {

constexpr int kFinding = 1;

Result<void> write_file(const std::string& path, const std::string& text) {
  errno = 0;
  std::ofstream file{path, std::ios::binary | std::ios::trunc};
  file << text;
  file.close();
  if (file) return {};
  return Unexpected{Error{Errc::io_error,
                          fmt::format("cannot write '{}': {}", path, std::strerror(errno)),
                          "name another file with --html or --svg, or use --no-picture"}};
}

boost::json::array to_array(const std::vector<std::string>& texts) {
  boost::json::array array;
  for (const std::string& text : texts) array.emplace_back(text);
  return array;
}

}  // namespace

Result<std::vector<std::string>> write_pictures(const DemoOptions& options,
                                                const lab::Picture& picture) {
  std::vector<std::string> paths;
  if (options.no_picture) return paths;
  if (!options.svg.empty()) {
    const auto written = write_file(options.svg, picture.svg);
    if (!written) return Unexpected{written.error()};
    paths.push_back(options.svg);
  }
  std::string html = options.html;
  if (html.empty() && options.svg.empty()) html = fmt::format("holdfast-lab-{}.html", options.name);
  if (!html.empty()) {
    const auto written = write_file(html, lab::to_html(picture));
    if (!written) return Unexpected{written.error()};
    paths.push_back(html);
  }
  return paths;
}

int conclude(Console& console,
             boost::json::object result,
             const std::vector<std::string>& differences,
             const std::vector<std::string>& pictures,
             const std::string& kept) {
  const int code = differences.empty() ? to_int(ExitCode::ok) : kFinding;
  if (console.json()) {
    result["as_expected"] = differences.empty();
    result["differences"] = to_array(differences);
    result["pictures"] = to_array(pictures);
    if (!kept.empty()) result["directory"] = kept;
    console.print(result);
    return code;
  }
  console.print("");
  for (const std::string& difference : differences) {
    console.print(console.paint("not as it must be: ", Tone::bad) + difference);
  }
  if (differences.empty()) console.print(console.paint("It ended as it must.", Tone::good));
  for (const std::string& path : pictures) {
    console.print("The picture: " + console.paint(path, Tone::name));
  }
  if (!kept.empty()) console.print("The engine's directory: " + kept);
  return code;
}

int give_up(Console& console, const Error& error, int interrupt) {
  const int code = console.fail(error);
  const int signal = error.code == Errc::cancelled ? next_signal(interrupt) : 0;
  return signal == 0 ? code : exit_code_of_signal(signal);
}

}  // namespace holdfast::cli
