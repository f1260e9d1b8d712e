// Holdings: the locks that this process holds with its sessions, each by its key.
//
// Thread safety: as Env. Lifetime: the Env outlives it; tasks under way keep it alive.

#pragma once

#include <memory>
#include <set>
#include <vector>

#include "core/session_holdings.h"
#include "engines/etcd/etcd_parts.h"

namespace holdfast::etcd {

class Holdings final : public core::SessionHoldings<Own> {
 public:
  explicit Holdings(std::shared_ptr<Parts> parts);

  void attend(const Owner& owner) override;

 private:
  Task<Result<void>> look_into(std::vector<Owner> owners) override;
  void judge(const std::vector<Owner>& owners, const TxnAnswer& answer, std::set<Owner>& removed);

  std::shared_ptr<Parts> parts_;
};

}  // namespace holdfast::etcd
