// LineRegistry: ends the lines of an io_context when that goes.
//
// A task that waits for an answer is kept by its line, and may itself keep the driver that owns the
// line. Nobody outside of that circle would ever drop it.
//
// Thread safety: any thread.

#pragma once

#include <boost/asio/execution_context.hpp>
#include <mutex>
#include <unordered_set>

namespace holdfast::redis {

class Line;

class LineRegistry final : public boost::asio::execution_context::service {
 public:
  using key_type = LineRegistry;
  static boost::asio::execution_context::id id;

  explicit LineRegistry(boost::asio::execution_context& context) : service{context} {}

  void add(Line& line);
  void remove(Line& line);

 private:
  void shutdown() override;

  std::mutex mutex_;
  std::unordered_set<Line*> lines_;
};

}  // namespace holdfast::redis
