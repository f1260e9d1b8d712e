// What `holdfast lab quorum` computes, as text for people and as JSON.

#pragma once

#include <boost/json/object.hpp>

#include "cli/console.h"
#include "lab/quorum.h"

namespace holdfast::cli {

/// A table of nodes and availabilities, what it means, and what it assumes.
void print(Console& console, const lab::QuorumPlan& plan);

/// demo, majorities[]{nodes, majority, spare, availability_percent, failure, nines, down_s_a_year}.
boost::json::object to_json(const lab::QuorumPlan& plan);

}  // namespace holdfast::cli
