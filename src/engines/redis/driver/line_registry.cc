#include "engines/redis/driver/line_registry.h"

#include <memory>
#include <vector>

#include "engines/redis/driver/line.h"

namespace holdfast::redis {

boost::asio::execution_context::id LineRegistry::id;

void LineRegistry::add(Line& line) {
  const std::lock_guard lock{mutex_};
  lines_.insert(&line);
}

void LineRegistry::remove(Line& line) {
  const std::lock_guard lock{mutex_};
  lines_.erase(&line);
}

void LineRegistry::shutdown() {
  std::vector<std::shared_ptr<Line>> left;
  {
    const std::lock_guard lock{mutex_};
    for (Line* const line : lines_) left.push_back(line->weak_from_this().lock());
  }
  for (const auto& line : left) {
    if (!line) continue;
    line->abandon();
    line->close();
  }
}

}  // namespace holdfast::redis
