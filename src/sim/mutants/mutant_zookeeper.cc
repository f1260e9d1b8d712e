#include "sim/mutants/mutant_zookeeper.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <utility>

namespace holdfast::sim {
namespace {

using namespace zookeeper;

/// Does as the session within; a mutant overrides what it does wrong. Answers may come when it is
/// gone.
class Around : public ZookeeperSession {
 public:
  explicit Around(std::unique_ptr<ZookeeperSession> within) : within_{std::move(within)} {}

  void send(SharedRequest request, TimePoint by, OnAnswer on_answer) override {
    within_->send(std::move(request), by, std::move(on_answer));
  }
  void unwatch(const std::string& path) override { within_->unwatch(path); }
  void close() override { within_->close(); }

 protected:
  ZookeeperSession& within() { return *within_; }

 private:
  std::unique_ptr<ZookeeperSession> within_;
};

template <class Session>
class PortOf final : public ZookeeperPort {
 public:
  explicit PortOf(ZookeeperPortPtr within) : within_{std::move(within)} {}

  std::unique_ptr<ZookeeperSession> open(SessionAsk ask, OnEvent on_event) override {
    return std::make_unique<Session>(within_->open(std::move(ask), std::move(on_event)));
  }

 private:
  ZookeeperPortPtr within_;
};

bool is_heartbeat(const Request& request) {
  const auto* multi = std::get_if<Multi>(&request);
  return multi != nullptr && multi->steps.size() == 1 &&
         std::holds_alternative<Check>(multi->steps.front());
}

bool is_contender(const Request& request) {
  const auto* create = std::get_if<Create>(&request);
  return create != nullptr && create->kind == Create::Kind::ephemeral_sequential;
}

std::string name_in(const std::string& path) { return path.substr(path.rfind('/') + 1); }

class BlindToOtherNodes final : public Around {
 public:
  using Around::Around;
  void send(SharedRequest request, TimePoint by, OnAnswer on_answer) override {
    const bool enters = is_contender(*request);
    auto blind = [own = own_, enters, then = std::move(on_answer)](Result<Answer> answer) mutable {
      if (answer && enters) own->insert(name_in(answer->path));
      if (answer)
        std::erase_if(answer->children, [&](const auto& one) { return !own->contains(one); });
      then(std::move(answer));
    };
    within().send(std::move(request), by, std::move(blind));
  }

 private:
  std::shared_ptr<std::set<std::string>> own_{std::make_shared<std::set<std::string>>()};
};

class ErasingTheFirst final : public Around {
 public:
  using Around::Around;
  void send(SharedRequest request, TimePoint by, OnAnswer on_answer) override {
    const bool leaves = std::holds_alternative<Erase>(*request);
    if (leaves && !first_->empty()) within().send(share(Erase{.path = *first_}), by, ignore());
    const auto* list = std::get_if<List>(request.get());
    auto note = [first = first_,
                 parent = list != nullptr ? list->path : std::string{},
                 then = std::move(on_answer)](Result<Answer> answer) mutable {
      if (answer && !answer->children.empty()) {
        const auto number = [](const std::string& name) { return name.substr(name.size() - 10); };
        *first = parent + '/' + *std::ranges::min_element(answer->children, {}, number);
      }
      then(std::move(answer));
    };
    within().send(std::move(request), by, std::move(note));
  }

 private:
  static OnAnswer ignore() {
    return [](Result<Answer>) {};
  }

  std::shared_ptr<std::string> first_{std::make_shared<std::string>()};
};

class WithLastingNodes final : public Around {
 public:
  using Around::Around;
  void send(SharedRequest request, TimePoint by, OnAnswer on_answer) override {
    if (is_contender(*request)) {
      Create lasting = std::get<Create>(*request);
      lasting.kind = Create::Kind::persistent_sequential;
      request = share(std::move(lasting));
    }
    within().send(std::move(request), by, std::move(on_answer));
  }
};

template <class Beat>
class BeatingBy final : public Around {
 public:
  using Around::Around;
  void send(SharedRequest request, TimePoint by, OnAnswer on_answer) override {
    if (is_heartbeat(*request)) request = share(Beat{.path = "/"});
    within().send(std::move(request), by, std::move(on_answer));
  }
};

class TakingNumbersForChanges final : public Around {
 public:
  using Around::Around;
  void send(SharedRequest request, TimePoint by, OnAnswer on_answer) override {
    const bool enters = is_contender(*request);
    auto change = [enters, then = std::move(on_answer)](Result<Answer> answer) mutable {
      if (enters && answer && answer->path.size() > kDigits) {
        const char* const end = answer->path.data() + answer->path.size();
        std::from_chars(end - kDigits, end, answer->stat.created);
        ++answer->stat.created;
      }
      then(std::move(answer));
    };
    within().send(std::move(request), by, std::move(change));
  }

 private:
  static constexpr std::size_t kDigits = 10;
};

template <class Session>
ZookeeperPortPtr around(ZookeeperPortPtr port) {
  return std::make_shared<PortOf<Session>>(std::move(port));
}

}  // namespace

ZookeeperPortPtr blind_to_other_nodes(ZookeeperPortPtr port) {
  return around<BlindToOtherNodes>(std::move(port));
}

ZookeeperPortPtr erasing_the_first(ZookeeperPortPtr port) {
  return around<ErasingTheFirst>(std::move(port));
}

ZookeeperPortPtr with_lasting_nodes(ZookeeperPortPtr port) {
  return around<WithLastingNodes>(std::move(port));
}

ZookeeperPortPtr beating_by_reads(ZookeeperPortPtr port) {
  return around<BeatingBy<Exists>>(std::move(port));
}

ZookeeperPortPtr beating_by_syncs(ZookeeperPortPtr port) {
  return around<BeatingBy<Sync>>(std::move(port));
}

ZookeeperPortPtr taking_numbers_for_changes(ZookeeperPortPtr port) {
  return around<TakingNumbersForChanges>(std::move(port));
}

}  // namespace holdfast::sim
