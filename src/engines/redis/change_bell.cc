#include "engines/redis/change_bell.h"

#include "engines/redis/redis_desk_scripts.h"

namespace holdfast::redis {
namespace {

/// Not everybody who takes a lock rings the bell.
constexpr Millis kTrusted{1'000};

class BellEar final : public core::LockEar {
 public:
  explicit BellEar(std::unique_ptr<core::Listeners::Place> place) : place_{std::move(place)} {}
  Millis trusted_for() const override { return kTrusted; }

 private:
  std::unique_ptr<core::Listeners::Place> place_;
};

}  // namespace

ChangeBell::~ChangeBell() {
  if (subscribed_) port_->unsubscribe(keys_.changes());
}

std::unique_ptr<core::LockEar> ChangeBell::listen(const LockName& name,
                                                  std::function<void()> on_change) {
  if (!std::exchange(subscribed_, true)) {
    port_->subscribe(keys_.changes(), [weak = weak_from_this()](const Heard& heard) {
      if (const auto self = weak.lock()) self->hear(heard);
    });
  }
  return std::make_unique<BellEar>(listeners_->add(name.text(), std::move(on_change)));
}

void ChangeBell::hear(const Heard& heard) {
  // Whatever was said before went unheard.
  if (heard.kind == Heard::Kind::listening) return listeners_->tell_all();
  listeners_->tell(heard.text);
}

void ChangeBell::ring(const LockName& name, TimePoint answer_by) {
  auto call = share({.script = &kAnnounceScript,
                     .keys = {keys_.lock(name)},
                     .args = {keys_.changes(), name.text()}});
  port_->send(std::move(call), answer_by, [](const Result<Reply>&) {});
}

}  // namespace holdfast::redis
