#include "sim/mutants/mutant_etcd.h"

#include <map>
#include <string>
#include <utility>

namespace holdfast::sim {
namespace {

using namespace etcd;

/// Does as the port within; a mutant overrides what it does wrong. Answers may come when it is
/// gone.
class Around : public EtcdPort {
 public:
  explicit Around(EtcdPortPtr within) : within_{std::move(within)} {}

  void commit(SharedTxn txn, TimePoint by, OnTxn on_answer) override {
    within_->commit(std::move(txn), by, std::move(on_answer));
  }
  void grant(LeaseId lease, Seconds ttl, TimePoint by, OnLease on_answer) override {
    within_->grant(lease, ttl, by, std::move(on_answer));
  }
  void keep_alive(LeaseId lease, TimePoint by, OnLease on_answer) override {
    within_->keep_alive(lease, by, std::move(on_answer));
  }
  void revoke(LeaseId lease, TimePoint by, OnLease on_answer) override {
    within_->revoke(lease, by, std::move(on_answer));
  }
  void look_up(LeaseId lease, TimePoint by, OnLease on_answer) override {
    within_->look_up(lease, by, std::move(on_answer));
  }
  WatchId watch(Watch watch, OnWatch on_watch) override {
    return within_->watch(std::move(watch), std::move(on_watch));
  }
  void unwatch(WatchId id) override { within_->unwatch(id); }

 protected:
  EtcdPort& within() { return *within_; }

 private:
  EtcdPortPtr within_;
};

class BlindToOthers final : public Around {
 public:
  using Around::Around;
  void commit(SharedTxn txn, TimePoint by, OnTxn on_answer) override {
    auto blind = [then = std::move(on_answer)](Result<TxnAnswer> answer) mutable {
      // Who looks at a key alone is its own contender.
      for (std::size_t i = 0; answer && i < answer->answers.size(); ++i) {
        auto& found = answer->answers[i].found;
        if (found.size() > 1) found.clear();
      }
      then(std::move(answer));
    };
    within().commit(std::move(txn), by, std::move(blind));
  }
};

/// Changes what is asked.
class Asking final : public Around {
 public:
  using Change = void (*)(Txn&);
  Asking(EtcdPortPtr port, Change change) : Around{std::move(port)}, change_{change} {}

  void commit(SharedTxn txn, TimePoint by, OnTxn on_answer) override {
    Txn changed = *txn;
    change_(changed);
    within().commit(share(std::move(changed)), by, std::move(on_answer));
  }

 private:
  Change change_;
};

void erase_everybody(Txn& txn) {
  for (auto* operations : {&txn.then, &txn.otherwise}) {
    for (Operation& operation : *operations) {
      auto* erase = std::get_if<Erase>(&operation);
      if (erase == nullptr) continue;
      erase->keys = starting_with(erase->keys.key.substr(0, erase->keys.key.rfind('/') + 1));
      txn.when.clear();
    }
  }
}

void put_without_lease(Txn& txn) {
  for (Operation& operation : txn.then) {
    if (auto* put = std::get_if<Put>(&operation)) put->lease = {};
  }
}

/// The key of a contender without what tells the acquisitions of a session apart.
std::string shortened(const std::string& key) {
  const std::size_t slash = key.rfind('/');
  const std::size_t mark = key.rfind('-');
  const bool of_contender = key.starts_with("hf/") && mark != std::string::npos && mark > slash;
  return of_contender ? key.substr(0, mark) : key;
}

class OneKeyPerSession final : public Around {
 public:
  using Around::Around;

  void commit(SharedTxn txn, TimePoint by, OnTxn on_answer) override {
    Txn changed = *txn;
    std::map<std::string, std::string> longer;
    const auto shorten = [&](std::string& key) {
      const std::string full = std::exchange(key, shortened(key));
      if (full != key) longer[key] = full;
    };
    for (Compare& compare : changed.when) shorten(compare.key);
    for (auto* operations : {&changed.then, &changed.otherwise}) {
      for (Operation& operation : *operations) {
        if (auto* put = std::get_if<Put>(&operation)) shorten(put->key);
        if (auto* erase = std::get_if<Erase>(&operation)) shorten(erase->keys.key);
        if (auto* range = std::get_if<Range>(&operation)) shorten(range->keys.key);
      }
    }
    auto lengthen = [longer = std::move(longer),
                     then = std::move(on_answer)](Result<TxnAnswer> answer) mutable {
      for (std::size_t i = 0; answer && i < answer->answers.size(); ++i) {
        for (KeyValue& entry : answer->answers[i].found) {
          const auto full = longer.find(entry.key);
          if (full != longer.end()) entry.key = full->second;
        }
      }
      then(std::move(answer));
    };
    within().commit(share(std::move(changed)), by, std::move(lengthen));
  }

  WatchId watch(Watch watch, OnWatch on_watch) override {
    watch.keys.key = shortened(watch.keys.key);
    return within().watch(std::move(watch), std::move(on_watch));
  }
};

/// The latest that was heard of the cluster, to make up answers from.
struct Memory {
  Header header{};
  Seconds ttl{2};

  void note(const Header& heard) {
    if (heard.revision >= header.revision) header = heard;
  }
};

class BelievingInRenewal final : public Around {
 public:
  using Around::Around;
  void commit(SharedTxn txn, TimePoint by, OnTxn on_answer) override {
    auto note = [memory = memory_, then = std::move(on_answer)](Result<TxnAnswer> answer) mutable {
      if (answer) memory->note(answer->header);
      then(std::move(answer));
    };
    within().commit(std::move(txn), by, std::move(note));
  }
  void grant(LeaseId lease, Seconds ttl, TimePoint by, OnLease on_answer) override {
    auto note = [memory = memory_,
                 then = std::move(on_answer)](Result<LeaseAnswer> answer) mutable {
      if (answer) *memory = {answer->header, answer->ttl};
      then(std::move(answer));
    };
    within().grant(lease, ttl, by, std::move(note));
  }
  void keep_alive(LeaseId lease, TimePoint by, OnLease on_answer) override {
    auto believe = [memory = memory_,
                    then = std::move(on_answer)](Result<LeaseAnswer> answer) mutable {
      if (answer) memory->note(answer->header);
      then(answer ? std::move(answer) : LeaseAnswer{memory->header, memory->ttl});
    };
    within().keep_alive(lease, by, std::move(believe));
  }

 private:
  std::shared_ptr<Memory> memory_{std::make_shared<Memory>()};
};

class NotingLeases final : public Around {
 public:
  NotingLeases(EtcdPortPtr port, std::shared_ptr<std::int64_t> last)
      : Around{std::move(port)}, last_{std::move(last)} {}

  void commit(SharedTxn txn, TimePoint by, OnTxn on_answer) override {
    for (const Operation& operation : txn->then) {
      if (const auto* put = std::get_if<Put>(&operation)) *last_ = put->lease.number;
    }
    within().commit(std::move(txn), by, std::move(on_answer));
  }

 private:
  std::shared_ptr<std::int64_t> last_;
};

}  // namespace

EtcdPortPtr blind_to_others(EtcdPortPtr port) {
  return std::make_shared<BlindToOthers>(std::move(port));
}

EtcdPortPtr erasing_everybody(EtcdPortPtr port) {
  return std::make_shared<Asking>(std::move(port), &erase_everybody);
}

EtcdPortPtr without_leases(EtcdPortPtr port) {
  return std::make_shared<Asking>(std::move(port), &put_without_lease);
}

EtcdPortPtr one_key_per_session(EtcdPortPtr port) {
  return std::make_shared<OneKeyPerSession>(std::move(port));
}

EtcdPortPtr believing_in_keep_alives(EtcdPortPtr port) {
  return std::make_shared<BelievingInRenewal>(std::move(port));
}

EtcdPortPtr noting_leases(EtcdPortPtr port, std::shared_ptr<std::int64_t> last) {
  return std::make_shared<NotingLeases>(std::move(port), std::move(last));
}

}  // namespace holdfast::sim
