#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "tests/contract/actor.h"
#include "tests/contract/labour.h"
#include "tests/contract/store_labour.h"
#include "tests/contract/wire.h"

namespace holdfast::contract {
namespace {

/// Leaves a child behind that lives until the test closes the pipe of commands.
bool fork_and_linger() {
  const pid_t child = fork();
  if (child != 0) return child > 0;
  close(STDOUT_FILENO);
  pollfd commands{.fd = STDIN_FILENO, .events = 0, .revents = 0};
  while (poll(&commands, 1, -1) < 0) {
  }
  _exit(0);
}

struct Held {
  std::stop_source stop;
  std::optional<Lease> lease;
  std::atomic<int> losses{0};
  std::atomic<TimePoint> lost_at{TimePoint{}};
};

void record_loss(const std::weak_ptr<Held>& weak, const LeaseEvent& event) {
  const auto held = weak.lock();
  if (!held || event.state != LeaseState::lost) return;
  if (held->losses == 0) held->lost_at = BootClock::now();
  ++held->losses;
}

class ActorProcess {
 public:
  explicit ActorProcess(Client client) : client_{std::move(client)} {}

  /// Commands that may wait run on threads of their own, so that others can be served meanwhile.
  void serve(Fields command) {
    const std::string id = command.at(0);
    const std::string verb = command.at(1);
    if (verb == "quit") std::exit(0);
    if (verb == "acquire") {
      auto held = std::make_shared<Held>();
      remember(command.at(2), held);
      std::thread{[this, id, held, command = std::move(command)] {
        reply(id, acquire(*held, held, command));
      }}.detach();
    } else if (verb == "count" || verb == "crowd" || verb == "line") {
      std::thread{[this, id, command = std::move(command)] {
        reply(id, labour(client_, command));
      }}.detach();
    } else if (verb == "update" || verb == "fenced" || verb == "unfenced" || verb == "once") {
      std::thread{[this, id, command = std::move(command)] {
        reply(id, store_labour(client_, command));
      }}.detach();
    } else {
      reply(id, answer(verb, command));
    }
  }

 private:
  Fields acquire(Held& held, const std::shared_ptr<Held>& shared, const Fields& command) {
    auto lease = client_.acquire(command.at(3), to_options(command, 4), held.stop.get_token());
    const TimePoint granted_at = BootClock::now();
    if (!lease) {
      const auto& error = lease.error();
      return {std::string{to_string(error.code)},
              error.message,
              error.holder ? error.holder->owner_fp : ""};
    }
    lease->on_event(
        [weak = std::weak_ptr{shared}](const LeaseEvent& event) { record_loss(weak, event); });
    Fields granted{"granted",
                   std::to_string(lease->token().value()),
                   lease->owner().to_string(),
                   from_time(granted_at),
                   from_time(lease->valid_until())};
    const std::lock_guard guard{guard_};
    held.lease = std::move(*lease);
    return granted;
  }

  Fields answer(const std::string& verb, const Fields& command) {
    if (verb == "hello") return {"hello"};
    if (verb == "fork") return {fork_and_linger() ? "forked" : "cannot fork"};
    const auto held = find(command.at(2));
    if (!held) return {"no such lease"};
    if (verb == "cancel") return {held->stop.request_stop() ? "stopped" : "stopped before"};
    if (verb == "drop") return forget(command.at(2));
    if (!held->lease) return {"not granted yet"};
    if (verb == "release") return {std::string{to_string(held->lease->release())}};
    if (verb == "sequencer") return {held->lease->sequencer()};
    if (verb == "detach") return {held->lease->detach() ? "detached" : "refused"};
    if (verb == "view") return view(*held);
    return {"no such command"};
  }

  Fields view(const Held& held) const {
    // The program's own view first: nothing may have run since a pause but this thread.
    const bool is_held = held.lease->ensure_held().has_value();
    return {std::string{to_string(held.lease->state())},
            std::string{to_string(held.lease->loss_reason())},
            is_held ? "1" : "0",
            held.lease->stop_token().stop_requested() ? "1" : "0",
            std::to_string(held.losses),
            from_time(held.lost_at),
            from_time(held.lease->valid_until())};
  }

  void remember(const std::string& name, std::shared_ptr<Held> held) {
    const std::lock_guard guard{guard_};
    held_[name] = std::move(held);
  }

  std::shared_ptr<Held> find(const std::string& name) {
    const std::lock_guard guard{guard_};
    const auto found = held_.find(name);
    return found == held_.end() ? nullptr : found->second;
  }

  Fields forget(const std::string& name) {
    const std::lock_guard guard{guard_};
    held_[name]->lease.reset();
    held_.erase(name);
    return {"dropped"};
  }

  void reply(const std::string& id, Fields fields) {
    fields.insert(fields.begin(), id);
    const std::lock_guard guard{output_};
    write_line(STDOUT_FILENO, fields);
  }

  Client client_;
  std::mutex guard_;
  std::mutex output_;
  std::map<std::string, std::shared_ptr<Held>> held_;
};

}  // namespace

int run_actor(const char* url) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGPIPE, SIG_IGN);
  auto client = Client::connect(url);
  if (!client) {
    dprintf(STDERR_FILENO, "actor: %s\n", client.error().message.c_str());
    return 1;
  }
  // Never destroyed: an actor that ends must leave its leases to the engine.
  static auto& process = *new ActorProcess{std::move(*client)};
  LineReader commands{STDIN_FILENO};
  Fields command;
  while (commands.next(command)) process.serve(std::move(command));
  return 0;
}

}  // namespace holdfast::contract
