// A file of metrics that runs add to, one after another, for Prometheus' text-file collector.

#pragma once

#include <string>
#include <string_view>

#include "holdfast/result.h"

namespace holdfast::cli {

/// Prometheus' text with the counters and histograms of `before` added to those of `now`; gauges
/// are as they are now. What others have put into `before` comes after them, as it is; comments,
/// and what Prometheus would not read, are left out.
std::string add_metrics(std::string_view before, std::string_view now);

/// Whether add_to_metrics_file() would do. invalid_argument: there is something else than a plain
/// file. io_error, denied, no_space: it cannot be read, or nothing can be put in its place.
Result<void> check_metrics_file(const std::string& path);

/// Adds to what the file has, in one step for its readers; others that add wait for each other.
/// Failures as check_metrics_file(): the file is as it was.
Result<void> add_to_metrics_file(const std::string& path, std::string_view now);

}  // namespace holdfast::cli
