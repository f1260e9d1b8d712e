#include "runtime/end_registry.h"

#include <vector>

namespace holdfast::runtime {

boost::asio::execution_context::id EndRegistry::id;

EndsWithContext::EndsWithContext(boost::asio::io_context& context) : context_{context} {
  boost::asio::use_service<EndRegistry>(context_).add(*this);
}

EndsWithContext::~EndsWithContext() {
  boost::asio::use_service<EndRegistry>(context_).remove(*this);
}

void EndRegistry::add(EndsWithContext& member) {
  const std::lock_guard lock{mutex_};
  members_.insert(&member);
}

void EndRegistry::remove(EndsWithContext& member) {
  const std::lock_guard lock{mutex_};
  members_.erase(&member);
}

void EndRegistry::shutdown() {
  std::vector<std::shared_ptr<EndsWithContext>> left;
  {
    const std::lock_guard lock{mutex_};
    for (EndsWithContext* const member : members_) left.push_back(member->weak_from_this().lock());
  }
  for (const auto& member : left) {
    if (member) member->end_with_context();
  }
}

}  // namespace holdfast::runtime
