// How a test and its actors talk: one line per message, fields separated by tabs.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/options.h"

namespace holdfast::contract {

using Fields = std::vector<std::string>;

/// One line, with its newline.
std::string join(const Fields& fields);
Fields split(std::string_view line);

std::int64_t to_number(const std::string& field);
std::string from_time(TimePoint time);
TimePoint to_time(const std::string& field);

/// Eight fields; to_options() reads them from `at` on, and its views point into `fields`.
Fields from_options(const AcquireOptions& options);
AcquireOptions to_options(const Fields& fields, std::size_t at);

/// The whole line must arrive: a short write is an error of the test's set-up and aborts.
void write_line(int fd, const Fields& fields);

/// Reads lines from a descriptor. Returns false at its end.
class LineReader {
 public:
  explicit LineReader(int fd) : fd_{fd} {}
  bool next(Fields& fields);

 private:
  int fd_;
  std::string buffer_;
};

}  // namespace holdfast::contract
