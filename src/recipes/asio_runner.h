// AsioRunner: runs tasks on an Asio executor.
//
// Thread safety: run_later() as the executor. Lifetime: outlives the tasks it runs.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "base/task_step.h"

namespace holdfast::recipes {

class AsioRunner final : public TaskRunner {
 public:
  explicit AsioRunner(boost::asio::any_io_executor executor) : executor_{std::move(executor)} {}

  const boost::asio::any_io_executor& executor() const { return executor_; }
  void run_later(TaskStep step) override { boost::asio::post(executor_, std::move(step)); }

 private:
  boost::asio::any_io_executor executor_;
};

}  // namespace holdfast::recipes
