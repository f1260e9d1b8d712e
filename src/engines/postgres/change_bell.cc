#include "engines/postgres/change_bell.h"

#include "engines/postgres/refusal_error.h"

namespace holdfast::postgres {
namespace {

/// Not everybody who takes a lock rings the bell.
constexpr Millis kHearing{1'000};
constexpr Millis kDeaf{200};

constexpr Millis kReopen{500};

constexpr Statement kListenStatement{"holdfast_listen", "LISTEN holdfast_changes"};

constexpr Statement kAnnounceStatement{"holdfast_announce",
                                       "SELECT pg_notify('holdfast_changes', $1)"};

class BellEar final : public core::LockEar {
 public:
  BellEar(std::shared_ptr<ChangeBell> bell, std::unique_ptr<core::Listeners::Place> place)
      : bell_{std::move(bell)}, place_{std::move(place)} {}
  Millis trusted_for() const override { return bell_->hears() ? kHearing : kDeaf; }

 private:
  std::shared_ptr<ChangeBell> bell_;
  std::unique_ptr<core::Listeners::Place> place_;
};

}  // namespace

std::unique_ptr<core::LockEar> ChangeBell::listen(std::string name,
                                                  std::function<void()> on_change) {
  auto place = listeners_->add(std::move(name), std::move(on_change));
  open();
  return std::make_unique<BellEar>(shared_from_this(), std::move(place));
}

void ChangeBell::ring(std::string name) {
  auto call = share({.statement = &kAnnounceStatement, .args = {std::move(name)}});
  port_->send(std::move(call), env_.now() + timeout_, [](const Result<Answer>&) {});
}

void ChangeBell::open() {
  if (open_ || port_->direct() != PostgresPort::Direct::yes) return;
  open_ = true;
  session_ = port_->open(env_.now() + timeout_, [weak = weak_from_this()](const auto& event) {
    if (const auto self = weak.lock()) self->hear(event);
  });
}

void ChangeBell::hear(const SessionEvent& event) {
  switch (event.kind) {
    case SessionEvent::Kind::connected:
      return attend();
    case SessionEvent::Kind::notified:
      return listeners_->tell(event.payload);
    case SessionEvent::Kind::ended:
      return end();
  }
}

void ChangeBell::attend() {
  auto on_answer = [weak = weak_from_this()](Result<Answer> answer) {
    const auto self = weak.lock();
    if (!self || !rows_of(std::move(answer))) return;
    self->hears_ = true;
    // Whatever was said before went unheard.
    self->listeners_->tell_all();
  };
  session_->send(share({.statement = &kListenStatement, .args = {}}),
                 env_.now() + timeout_,
                 std::move(on_answer));
}

// The session stays until another is opened: this may be a call of its own.
void ChangeBell::end() {
  hears_ = false;
  env_.spawn(open_again(weak_from_this(), env_));
}

Task<void> ChangeBell::open_again(std::weak_ptr<ChangeBell> bell, Env& env) {
  co_await env.sleep_for(kReopen);
  const auto self = bell.lock();
  if (!self) co_return;
  self->open_ = false;
  self->session_.reset();
  if (!self->listeners_->empty()) self->open();
}

}  // namespace holdfast::postgres
