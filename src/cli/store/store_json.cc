#include "cli/store/store_json.h"

#include <string>
#include <utility>

#include "cli/base64.h"
#include "cli/json.h"
#include "cli/text.h"

namespace holdfast::cli {
namespace json = boost::json;
namespace {

json::value token_json(const std::optional<Token>& token) {
  return token ? json::value(token->value()) : json::value(nullptr);
}

}  // namespace

void add_bytes(json::object& object, std::string_view name, std::string_view bytes) {
  if (is_utf8(bytes)) {
    object.emplace(name, bytes);
  } else {
    object.emplace(std::string{name} + "_base64", to_base64(bytes));
  }
}

json::object entry_json(const Target& target, const std::optional<Entry>& entry) {
  json::object object{{"key", to_utf8(target.key)}, {"found", entry.has_value()}};
  if (entry) add_bytes(object, "value", entry->value);
  const Version version = entry ? entry->version : Version::absent();
  object["version"] = target.is_file ? json::value(nullptr) : json::value(version.value());
  const bool fenced = entry && entry->token;
  object["token"] = fenced ? json::value(entry->token->value()) : json::value(nullptr);
  // Of a token that was overtaken, the store remembers no sequence.
  const bool numbered = fenced && entry->sequence != 0;
  object["seq"] = numbered ? json::value(entry->sequence) : json::value(nullptr);
  return object;
}

json::object change_json(const Target& target, const Change& change) {
  return {{"key", to_utf8(target.key)},
          {"applied", change.applied},
          {"duplicate", change.duplicate},
          {"version", change.version.value()},
          {"token", token_json(change.token)},
          {"seq", change.token ? json::value(change.sequence) : json::value(nullptr)}};
}

json::object refusal_json(const StoreError& error) {
  json::object object = error_json(to_string(error.code), error);
  object["code"] = to_string(error.code);
  if (error.code == Errc::stale_token) {
    object["yours"] = token_json(error.yours);
    object["highest"] = token_json(error.highest);
  }
  if (error.actual) object["actual"] = error.actual->value();
  return object;
}

int fail_store(const StoreError& error, Console& console) {
  if (!console.json()) return console.fail(error);
  console.print(refusal_json(error));
  return to_int(exit_code_of(error.code));
}

}  // namespace holdfast::cli
