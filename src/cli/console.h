// Where a command's words go: results to stdout, everything else to stderr; text or JSON.
//
// Colour appears on terminals only, and not when NO_COLOR is set or TERM is "dumb".
// Thread safety: none; one thread of the command speaks.

#pragma once

#include <boost/json/object.hpp>
#include <cstdio>
#include <string>
#include <string_view>

#include "cli/exit_code.h"
#include "holdfast/error.h"

namespace holdfast::cli {

enum class Format { human, json };

/// The meaning of a piece of text; a colour is only how a terminal shows it.
enum class Tone { plain, name, good, waiting, bad, faint };

class Console {
 public:
  explicit Console(Format format) : format_{format} {}

  Format format() const { return format_; }
  bool json() const { return format_ == Format::json; }

  /// One line of the result, on stdout.
  void print(std::string_view line);
  /// The result as one line of JSON, on stdout.
  void print(const boost::json::object& result);
  /// Bytes as they are, on stdout.
  void print_bytes(std::string_view bytes);
  /// The same, and a new line where people would look for one: on a terminal.
  void print_value(std::string_view bytes);
  /// A remark for people, on stderr. Silent with --json.
  void note(std::string_view line);

  /// Reports an error and gives the exit code that belongs to it. JSON goes to stdout as the
  /// command's one object, text to stderr.
  int fail(const Error& error);
  /// As fail(), for a command whose stdout belongs to somebody else: all goes to stderr.
  int fail_on_stderr(const Error& error);
  /// The command line was not understood: exit code 64.
  int fail_usage(std::string_view message, std::string_view remedy);

  /// The text as it shall appear on stdout.
  std::string paint(std::string_view text, Tone tone) const;

  /// Hands everything printed to the operating system; call it last. `code`, unless stdout could
  /// not be written: then 74, and the reason on stderr.
  int finish(int code);

 private:
  void write(std::FILE* stream, std::string_view line);
  void report(std::FILE* stream, std::string_view code, const Error& error);

  Format format_;
};

}  // namespace holdfast::cli
