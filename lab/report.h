// Makes the reports of a process that has met an error.

#pragma once

#include <algorithm>

#include "lab/message.h"

namespace holdfast::lab {

/// The error's message is cut to what a report has room for.
inline Report failed(const Error& error) {
  Report report{.answer = Answer::failed, .code = error.code};
  const std::size_t length = std::min(error.message.size(), report.message.size() - 1);
  std::copy_n(error.message.begin(), length, report.message.begin());
  return report;
}

}  // namespace holdfast::lab
