#include "lab/worker.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/fence.h"
#include "core/store_backend.h"
#include "lab/number.h"
#include "lab/race.h"
#include "lab/report.h"

namespace holdfast::lab {
namespace {

Result<Store> store_of(Result<Client>& client) {
  if (!client) return Unexpected{client.error()};
  return client->store();
}

}  // namespace

Worker::Worker(Role role)
    : role_{std::move(role)}, client_{Client::connect(role_.engine)}, store_{store_of(client_)} {}

Report Worker::obey(const Command& command) {
  const TimePoint began = BootClock::now();
  Report report = store_ ? perform(command) : failed(store_.error());
  report.began_ns = began.time_since_epoch().count();
  report.ended_ns = BootClock::now().time_since_epoch().count();
  return report;
}

Report Worker::perform(const Command& command) {
  switch (command.verb) {
    case Verb::put:
      return put(command.number);
    case Verb::acquire:
      return acquire(Millis{command.number});
    case Verb::open:
      return open();
    case Verb::read:
      return read(command.access);
    case Verb::decide:
      return decide(command.number);
    case Verb::write:
      return write(command.access);
    case Verb::release:
      return release();
    case Verb::look:
      return look();
    case Verb::race:
      return race({*client_, *store_, role_.subject}, command.guard, command.number);
  }
  return failed({Errc::internal, "an unknown command"});
}

Report Worker::answer(Answer answer) const {
  return {.answer = answer, .value = value_, .token = lease_ ? lease_->token().value() : 0};
}

Report Worker::refuse(const StoreError& error) const {
  if (error.code != Errc::stale_token && error.code != Errc::version_conflict) return failed(error);
  Report report = failed(error);
  report.answer = Answer::refused;
  report.value = value_;
  report.token = error.yours ? error.yours->value() : 0;
  report.highest = error.highest ? error.highest->value() : 0;
  return report;
}

Report Worker::put(std::int64_t value) {
  const auto put = store_->put(role_.subject, std::to_string(value));
  return put ? answer(Answer::done) : failed(put.error());
}

Report Worker::acquire(Millis ttl) {
  auto lease = client_->acquire(role_.subject, {.ttl = ttl});
  if (!lease) return failed(lease.error());
  lease_.emplace(std::move(*lease));
  return answer(Answer::done);
}

Report Worker::open() {
  auto resource = store_->open(role_.subject, *lease_);
  if (!resource) return refuse(resource.error());
  resource_.emplace(std::move(*resource));
  return answer(Answer::done);
}

Report Worker::seen(const std::optional<Entry>& entry) {
  value_ = to_number(entry);
  version_ = entry ? entry->version : Version::absent();
  return answer(Answer::done);
}

Report Worker::read(Access access) {
  const auto entry = access == Access::open_first ? resource_->read() : store_->get(role_.subject);
  return entry ? seen(*entry) : refuse(entry.error());
}

Report Worker::look() {
  const auto entry = store_->get(role_.subject);
  return entry ? seen(*entry) : failed(entry.error());
}

Report Worker::decide(std::int64_t change) {
  // The check that careful programs make, and that cannot help: the pause comes after it.
  if (lease_) {
    if (const auto held = lease_->ensure_held(); !held) return failed(held.error());
  }
  if (value_ + change < 0) return answer(Answer::declined);
  value_ += change;
  return answer(Answer::done);
}

Report Worker::write_fenced(const std::string& value) {
  const auto sequencer = parse_sequencer(lease_->sequencer());
  if (!sequencer) return failed(sequencer.error());
  const auto holder = core::to_holder(*sequencer);
  if (!holder) return failed(holder.error());
  const auto reply = store_->backend()->perform(
      {.key = role_.subject,
       .operation =
           WriteResource{.holder = *holder, .opened = core::Opened::not_yet, .value = value}});
  return reply ? answer(Answer::done) : refuse(reply.error());
}

Report Worker::write(Access access) {
  const std::string value = std::to_string(value_);
  if (access == Access::fenced_writes) return write_fenced(value);
  if (access == Access::open_first) {
    const auto receipt = resource_->write(value);
    return receipt ? answer(Answer::done) : refuse(receipt.error());
  }
  PutOptions options;
  if (access == Access::compare_and_swap) options.if_version = version_;
  const auto put = store_->put(role_.subject, value, options);
  return put ? answer(Answer::done) : refuse(put.error());
}

Report Worker::release() {
  const bool released = lease_->release() == ReleaseOutcome::released;
  return answer(released ? Answer::done : Answer::declined);
}

void work(int socket, Role role) {
  Worker worker{std::move(role)};
  Command command;
  while (recv(socket, &command, sizeof command, 0) == static_cast<ssize_t>(sizeof command)) {
    const Report report = worker.obey(command);
    if (send(socket, &report, sizeof report, MSG_NOSIGNAL) < 0) break;
  }
  // Nothing that the director has prepared before the fork is to be printed or undone twice.
  _exit(0);
}

}  // namespace holdfast::lab
