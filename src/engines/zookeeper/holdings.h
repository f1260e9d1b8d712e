// Holdings: the locks that this process holds with its sessions, each by its node.
//
// Thread safety: as Env. Lifetime: the Env outlives it; tasks under way keep it alive.

#pragma once

#include <memory>
#include <vector>

#include "core/session_holdings.h"
#include "engines/zookeeper/zookeeper_parts.h"

namespace holdfast::zookeeper {

class Holdings final : public core::SessionHoldings<Own> {
 public:
  explicit Holdings(std::shared_ptr<Parts> parts);

  void attend(const Owner& owner) override;

 private:
  void watch(const Owner& owner);
  void hear(const Owner& owner, SessionLine::Change change);
  /// One at a time.
  Task<Result<void>> look_into(std::vector<Owner> owners) override;

  std::shared_ptr<Parts> parts_;
};

}  // namespace holdfast::zookeeper
