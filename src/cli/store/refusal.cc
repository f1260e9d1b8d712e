#include "cli/store/refusal.h"

#include <filesystem>
#include <system_error>

#include "base/wall_clock.h"
#include "cli/store/store_json.h"
#include "observe/kept_record.h"
#include "observe/refusal_record.h"

namespace holdfast::cli {
namespace {

/// Who was refused shall hear of it soon, however many others are.
constexpr UpdateOptions kFewAttempts{.attempts = 10};

std::string resource_of(const Target& target) {
  if (!target.is_file) return target.key;
  std::error_code failed;
  const auto path = std::filesystem::absolute(target.key, failed);
  return failed ? target.key : path.lexically_normal().string();
}

}  // namespace

void count_stale(Store& store, std::string_view resource) {
  observe::RefusalRecord refusals;
  refusals.add(resource, wall_ms());
  static_cast<void>(observe::add_to_key(store, observe::kRefusalsKey, refusals, kFewAttempts));
}

int fail_target(const StoreError& error,
                const Target& target,
                const std::string& engine,
                Console& console) {
  const int code = fail_store(error, console);
  if (error.code != Errc::stale_token) return code;
  if (auto store = Store::connect(engine)) count_stale(*store, resource_of(target));
  return code;
}

}  // namespace holdfast::cli
