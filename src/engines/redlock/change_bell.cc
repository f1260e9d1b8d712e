#include "engines/redlock/change_bell.h"

#include "engines/redlock/desk_scripts.h"

namespace holdfast::redlock {
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
  if (!subscribed_) return;
  for (const auto& node : nodes_) node->unsubscribe(channel_);
}

std::unique_ptr<core::LockEar> ChangeBell::listen(const LockName& name,
                                                  std::function<void()> on_change) {
  if (!std::exchange(subscribed_, true)) subscribe();
  return std::make_unique<BellEar>(listeners_->add(name.text(), std::move(on_change)));
}

void ChangeBell::subscribe() {
  for (const auto& node : nodes_) {
    node->subscribe(channel_, [weak = weak_from_this()](const redis::Heard& heard) {
      if (const auto self = weak.lock()) self->hear(heard);
    });
  }
}

void ChangeBell::hear(const redis::Heard& heard) {
  // Whatever was said before went unheard.
  if (heard.kind == redis::Heard::Kind::listening) return listeners_->tell_all();
  listeners_->tell(heard.text);
}

void ChangeBell::ring(const LockName& name, TimePoint answer_by) {
  const redis::SharedCall call =
      redis::share({.script = &kAnnounceScript, .keys = {}, .args = {channel_, name.text()}});
  for (const auto& node : nodes_) {
    node->send(call, answer_by, [](const Result<redis::Reply>&) {});
  }
}

}  // namespace holdfast::redlock
