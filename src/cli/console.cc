#include "cli/console.h"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/json/serialize.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "cli/json.h"
#include "cli/text.h"

namespace holdfast::cli {
namespace {

bool shows_colour(std::FILE* stream) {
  const char* no_colour = std::getenv("NO_COLOR");
  if (no_colour != nullptr && *no_colour != '\0') return false;
  const char* term = std::getenv("TERM");
  if (term == nullptr || std::string_view{term} == "dumb") return false;
  return isatty(fileno(stream)) == 1;
}

std::string_view escape_of(Tone tone) {
  switch (tone) {
    case Tone::plain:
      return "";
    case Tone::name:
      return "\x1b[1m";
    case Tone::good:
      return "\x1b[32m";
    case Tone::waiting:
      return "\x1b[33m";
    case Tone::bad:
      return "\x1b[1;31m";
    case Tone::faint:
      return "\x1b[2m";
  }
  return "";
}

std::string painted(std::FILE* stream, std::string_view text, Tone tone) {
  if (tone == Tone::plain || !shows_colour(stream)) return std::string{text};
  return fmt::format("{}{}\x1b[0m", escape_of(tone), text);
}

}  // namespace

void Console::write(std::FILE* stream, std::string_view line) {
  std::fwrite(line.data(), 1, line.size(), stream);
  std::fputc('\n', stream);
}

void Console::print(std::string_view line) { write(stdout, line); }

void Console::print(const boost::json::object& result) {
  write(stdout, boost::json::serialize(result));
}

void Console::print_bytes(std::string_view bytes) {
  std::fwrite(bytes.data(), 1, bytes.size(), stdout);
}

void Console::print_value(std::string_view bytes) {
  print_bytes(bytes);
  if (isatty(STDOUT_FILENO) == 1 && !bytes.ends_with('\n')) std::fputc('\n', stdout);
}

void Console::note(std::string_view line) {
  if (!json()) write(stderr, line);
}

void Console::report(std::FILE* stream, std::string_view code, const Error& error) {
  if (json()) {
    write(stream, boost::json::serialize(error_json(code, error)));
    return;
  }
  std::string text = painted(stderr, "holdfast:", Tone::bad) + " " + printable(error.message);
  for (const NodeError& node : error.nodes) {
    if (node.message == error.message) continue;
    text += fmt::format("\n  {}: {}", printable(node.node), printable(node.message));
  }
  write(stderr, text + "\n  " + printable(error.remedy()));
}

int Console::fail(const Error& error) {
  report(stdout, to_string(error.code), error);
  return to_int(exit_code_of(error.code));
}

int Console::fail_on_stderr(const Error& error) {
  report(stderr, to_string(error.code), error);
  return to_int(exit_code_of(error.code));
}

int Console::fail_usage(std::string_view message, std::string_view remedy) {
  const Error error{Errc::invalid_argument, std::string{message}, std::string{remedy}};
  report(stdout, "usage", error);
  return to_int(ExitCode::usage);
}

std::string Console::paint(std::string_view text, Tone tone) const {
  return json() ? std::string{text} : painted(stdout, text, tone);
}

int Console::finish(int code) {
  const bool failed_before = std::ferror(stdout) != 0;
  if (std::fflush(stdout) == 0 && !failed_before) return code;
  const int reason = errno;
  write(stderr, fmt::format("holdfast: the result could not be written: {}", strerror(reason)));
  return to_int(ExitCode::io);
}

}  // namespace holdfast::cli
