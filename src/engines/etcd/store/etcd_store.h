// EtcdStore: the store in an etcd cluster, each change one transaction.
//
// What is stored under a key is a value and a mark (store_mark.h). A change compares the mark with
// the one it was decided on, so that it is made of exactly that state or not at all; the answer
// to one that came too late brings what is there now. A mark that is known from before saves
// reading it: then a change is one round trip, otherwise two.
//
// Where the holder's lock is in the same cluster, its writes also compare the key by which it holds
// the lock: they are refused from the moment on at which the lock is released or expires, even
// before a new holder opens the resource.
//
// A request that was not answered is settled by what the key remembers of the last ones: its effect
// comes once. What cannot be settled is unknown_outcome.
//
// Thread safety and lifetime: as TaskStore.

#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "base/backoff.h"
#include "base/env.h"
#include "core/task_store.h"
#include "engines/etcd/etcd_keys.h"
#include "engines/etcd/etcd_port.h"
#include "engines/etcd/store/store_leases.h"
#include "engines/etcd/store/store_step.h"

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

class EtcdStore final : public core::TaskStore {
 public:
  EtcdStore(Env& env, const std::shared_ptr<EtcdPort>& port, StoreSettings settings);

 private:
  /// One request on its way.
  struct Course;
  /// Mark and lease of keys that were seen.
  struct Remembered {
    std::string text;
    LeaseId lease{};
    Revision revision{0};
  };

  Task<StoreResult> settle(const StoreRequest& request) override;

  Sight recall(const std::string& key) const;
  void remember(const std::string& key, Remembered seen);
  std::vector<Operation> look(const Course& course) const;
  Result<Sight, StoreError> see(const Course& course, const TxnAnswer& answer);
  /// What is known of the course decides it. Empty: it must look first.
  Result<std::optional<StoreStep>, StoreError> next_step(const Course& course) const;
  Task<Result<SharedTxn>> compose(Course& course, const StoreChange* change);
  Task<Result<LeaseId>> lease_for(const Course& course, const StoreChange& change);
  /// Empty: it goes on.
  std::optional<StoreResult> take(Course& course,
                                  const std::optional<StoreStep>& step,
                                  Result<TxnAnswer> answer);

  EtcdPort* port_;
  StoreSettings settings_;
  Keys keys_;
  StoreLeases leases_;
  std::unordered_map<std::string, Remembered> remembered_;
};

}  // namespace holdfast::etcd
