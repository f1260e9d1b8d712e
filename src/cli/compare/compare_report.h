// What `holdfast bench compare` measured, as text for people, as JSON and as a chart.

#pragma once

#include <boost/json/object.hpp>

#include "bench/compare/compare.h"
#include "cli/console.h"
#include "lab/sheet.h"

namespace holdfast::cli {

void print(Console& console, const bench::Comparison& comparison);

/// cores, engines[]{engine, cases[]{name, ops_s, p50_ns, p99_ns, samples}},
/// missing[]{engine, code, message, remedy}.
boost::json::object to_json(const bench::Comparison& comparison);

lab::Picture draw(const bench::Comparison& comparison);

}  // namespace holdfast::cli
