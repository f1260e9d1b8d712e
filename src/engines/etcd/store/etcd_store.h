// EtcdStore: the store in an etcd cluster, each change one transaction.
//
// What is stored under a key is a value and a mark of its own. A change compares the mark with the
// one it was decided on; the answer to one that came too late brings what is there now. A change is
// one round trip where the mark is known from before, otherwise two.
//
// Where the holder's lock is in the same cluster, its writes also compare the key by which it holds
// the lock: they are refused from the moment on at which the lock is released or expires, even
// before a new holder opens the resource.
//
// Thread safety and lifetime: as TaskStore.

#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/env.h"
#include "core/marked_store.h"
#include "engines/etcd/etcd_keys.h"
#include "engines/etcd/etcd_port.h"
#include "engines/etcd/store/store_leases.h"

namespace holdfast::etcd {

struct StoreSettings {
  /// Begins every key.
  std::string prefix{"hf/"};
  /// Of the locks in this cluster, as sequencers have it. Empty: there are none to look at.
  std::string domain{};
  /// How long an operation takes at most. More than 5 minutes count as that.
  Millis timeout{5000};
  /// How a request is repeated.
  BackoffPolicy retry{.first = Millis{20}, .max = Millis{500}};
  /// Who this is, for the record of what administrators do.
  std::string who{};
};

class EtcdStore final : public core::MarkedStore {
 public:
  EtcdStore(Env& env, const std::shared_ptr<EtcdPort>& port, StoreSettings settings);

 private:
  /// Mark and lease of keys that were seen.
  struct Remembered {
    std::string text;
    LeaseId lease{};
    Revision revision{0};
  };

  core::StoreSight recall(const StoreRequest& request) override;
  void forget(const StoreRequest& request) override;
  Task<Result<Attempt>> attempt(const Course& course,
                                const core::StoreChange* change,
                                TimePoint answer_by) override;

  std::string mark_of(const StoreRequest& request) const;
  void remember(const StoreRequest& request, Remembered seen);
  std::vector<Operation> look(const StoreRequest& request) const;
  Result<Attempt> see(const StoreRequest& request, const TxnAnswer& answer);
  Attempt made(const StoreRequest& request, const core::StoreChange& change, Revision revision);
  Task<Result<SharedTxn>> compose(const Course& course,
                                  const core::StoreChange* change,
                                  TimePoint answer_by);
  Task<Result<LeaseId>> lease_for(const Course& course,
                                  const core::StoreChange& change,
                                  TimePoint answer_by);

  EtcdPort* port_;
  StoreSettings settings_;
  Keys keys_;
  StoreLeases leases_;
  std::unordered_map<std::string, Remembered> remembered_;
};

}  // namespace holdfast::etcd
