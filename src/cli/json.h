// The shapes of the command's JSON, one function per shape. Times end in `_ms`; tokens are numbers.

#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "holdfast/election.h"
#include "holdfast/error.h"
#include "holdfast/inspect.h"
#include "holdfast/lease.h"

namespace holdfast::cli {

/// {"error":{"code","message","remedy","nodes":[{"node","message"}]}}
boost::json::object error_json(std::string_view code, const Error& error);

/// One holder or waiter: owner_fp, token, host, pid, label, since_ms, ttl_ms, foreign.
boost::json::object contender_json(const Contender& contender);

/// name, mode, holders, waiters (both counts) and the highest token held, or null.
boost::json::object summary_json(const LockInfo& lock);

/// name, mode, permits, holders[], waiters[], engine, delay_ms.
boost::json::object lock_json(const LockInfo& lock, std::string_view engine);

/// name, mode, token, owner, ttl_ms, valid_for_ms, engine, sequencer.
boost::json::object lease_json(const Lease& lease, std::string_view engine);

/// name, and leader: id, value, epoch, host, pid, since_ms; null when nobody leads.
boost::json::object leader_json(std::string_view name, const std::optional<Leader>& leader);

/// event, name and the contender's fields.
boost::json::object event_json(const LockEvent& event);

}  // namespace holdfast::cli
