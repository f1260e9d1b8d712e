// The reports of the demonstrations, as text for people and as JSON.

#pragma once

#include <boost/json/object.hpp>

#include "cli/console.h"
#include "lab/bank.h"
#include "lab/naive.h"
#include "lab/pause.h"

namespace holdfast::cli {

void print(Console& console, const lab::PauseReport& report);
void print(Console& console, const lab::BankReport& report);
void print(Console& console, const lab::NaiveReport& report);

/// demo, ttl_ms, verdicts[]{variant, lost, refused, ok} and stories[]{variant, story, lost and what
/// scene_json() gives}.
boost::json::object to_json(const lab::PauseReport& report);

/// demo, ttl_ms, variants[]{variant, paid[], paid_out, balance, created, balances and what
/// scene_json() gives}.
boost::json::object to_json(const lab::BankReport& report);

/// demo, processes, runs[]{lock, rounds, runs, attempted, final, lost, accepted[]}.
boost::json::object to_json(const lab::NaiveReport& report);

}  // namespace holdfast::cli
