#include "observe/observed_store.h"

#include <string>
#include <utility>

namespace holdfast::observe {
namespace {

void tell_refusal(Witness& witness, const std::string& key, const StoreResult& result) {
  if (result) return;
  const StoreError& error = result.error();
  Event event;
  if (error.code == Errc::stale_token) {
    event.kind = EventKind::stale;
  } else if (error.code == Errc::version_conflict) {
    event.kind = EventKind::conflict;
  } else {
    return;
  }
  event.name = key;
  event.token = error.yours.value_or(Token{0});
  event.error = &error;
  witness.tell(event);
}

class ObservedStore final : public StoreBackend {
 public:
  ObservedStore(std::shared_ptr<StoreBackend> inner, std::shared_ptr<Witness> witness)
      : inner_{std::move(inner)}, witness_{std::move(witness)} {}

  StoreResult perform(const StoreRequest& request) override {
    StoreResult result = inner_->perform(request);
    tell_refusal(*witness_, request.key, result);
    return result;
  }

  void async_perform(StoreRequest request, StoreCallback callback) override {
    auto told = [witness = witness_, key = request.key, callback = std::move(callback)](
                    StoreResult result) {
      tell_refusal(*witness, key, result);
      callback(std::move(result));
    };
    inner_->async_perform(std::move(request), std::move(told));
  }

 private:
  std::shared_ptr<StoreBackend> inner_;
  std::shared_ptr<Witness> witness_;
};

}  // namespace

std::shared_ptr<StoreBackend> observed_store(std::shared_ptr<StoreBackend> inner,
                                             std::shared_ptr<Witness> witness) {
  return std::make_shared<ObservedStore>(std::move(inner), std::move(witness));
}

}  // namespace holdfast::observe
