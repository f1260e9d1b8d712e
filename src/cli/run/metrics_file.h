// A file of metrics that runs add to, one after another, for Prometheus' text-file collector.

#pragma once

#include <string>
#include <string_view>

#include "holdfast/result.h"

namespace holdfast::cli {

/// Prometheus' text with the counters and histograms of `before` added to those of `now`; gauges
/// are as they are now. What is not understood in `before` is left out.
std::string add_metrics(std::string_view before, std::string_view now);

/// Adds to what the file has, in one step for its readers; others that add wait for each other.
/// io_error, denied, no_space: the file is as it was.
Result<void> add_to_metrics_file(const std::string& path, std::string_view now);

}  // namespace holdfast::cli
