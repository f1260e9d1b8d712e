// The shapes of the store's JSON, and how its refusals are told.

#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string_view>

#include "cli/console.h"
#include "cli/store/access.h"

namespace holdfast::cli {

/// Adds the bytes as `name`, or as `name`_base64 when they are not UTF-8.
void add_bytes(boost::json::object& object, std::string_view name, std::string_view bytes);

/// key, found, value or value_base64, version, token, seq. What is not known is null.
boost::json::object entry_json(const Target& target, const std::optional<Entry>& entry);

/// key, applied, duplicate, version, token, seq.
boost::json::object change_json(const Target& target, const Change& change);

/// error as everywhere, and beside it code and, as far as they apply, yours, highest and actual.
boost::json::object refusal_json(const StoreError& error);

/// Reports what a store did not do, and gives the exit code.
int fail_store(const StoreError& error, Console& console);

}  // namespace holdfast::cli
