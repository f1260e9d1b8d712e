#include "tests/contract/actor.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>

#include "tests/contract/patience.h"

extern char** environ;

namespace holdfast::contract {
namespace {

struct Pipe {
  Pipe() {
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error{"cannot create a pipe"};
  }
  std::array<int, 2> ends{};
};

Fields await(std::future<Fields>& reply) {
  if (reply.wait_for(kPatience) != std::future_status::ready) {
    throw std::runtime_error{"an actor does not answer"};
  }
  return reply.get();
}

Errc to_errc(const std::string& name) {
  for (int code = 1; code <= static_cast<int>(Errc::internal); ++code) {
    if (to_string(static_cast<Errc>(code)) == name) return static_cast<Errc>(code);
  }
  throw std::runtime_error{"an actor answered: " + name};
}

}  // namespace

Answer PendingAnswer::get() {
  const Fields fields = await(reply_);
  Answer answer;
  if (fields.at(0) != "granted") {
    answer.code = to_errc(fields.at(0));
    answer.message = fields.at(1);
    answer.holder_fp = fields.at(2);
    return answer;
  }
  answer.token = Token{static_cast<std::uint64_t>(to_number(fields.at(1)))};
  answer.owner = Owner::parse(fields.at(2)).value();
  answer.granted_at = to_time(fields.at(3));
  answer.valid_until = to_time(fields.at(4));
  return answer;
}

bool PendingAnswer::is_ready() const {
  return reply_.wait_for(std::chrono::seconds{0}) == std::future_status::ready;
}

Actor::Actor(const std::string& url) {
  const Pipe commands;
  const Pipe replies;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, commands.ends[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, replies.ends[1], STDOUT_FILENO);
  std::string program = "/proc/self/exe";
  std::string flag = "--actor";
  std::string argument = url;
  const std::array<char*, 4> argv{program.data(), flag.data(), argument.data(), nullptr};
  const int failure = posix_spawn(&pid_, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(commands.ends[0]);
  close(replies.ends[1]);
  to_ = commands.ends[1];
  from_ = replies.ends[0];
  if (failure != 0) throw std::runtime_error{"cannot start an actor"};
  reader_ = std::thread{[this] { read_replies(); }};
  ask({"hello"});
}

Actor::~Actor() {
  kill();
  close(to_);
  reader_.join();
  close(from_);
}

PendingAnswer Actor::begin_acquire(const std::string& lease,
                                   const std::string& name,
                                   const AcquireOptions& options) {
  Fields command{"acquire", lease, name};
  for (std::string& field : from_options(options)) command.push_back(std::move(field));
  return PendingAnswer{send(std::move(command))};
}

Answer Actor::acquire(const std::string& lease,
                      const std::string& name,
                      const AcquireOptions& options) {
  return begin_acquire(lease, name, options).get();
}

void Actor::cancel(const std::string& lease) { ask({"cancel", lease}); }
std::string Actor::release(const std::string& lease) { return ask({"release", lease}).at(0); }
void Actor::drop(const std::string& lease) { ask({"drop", lease}); }

LeaseView Actor::view(const std::string& lease) {
  const Fields fields = ask({"view", lease});
  return {.state = fields.at(0),
          .reason = fields.at(1),
          .ensure_held = fields.at(2) == "1",
          .stop_requested = fields.at(3) == "1",
          .loss_events = static_cast<int>(to_number(fields.at(4))),
          .lost_at = to_time(fields.at(5)),
          .valid_until = to_time(fields.at(6))};
}

std::future<Fields> Actor::send(Fields command) {
  const std::lock_guard guard{guard_};
  const std::string id = std::to_string(next_id_++);
  std::promise<Fields>& promise = waiting_[id];
  auto reply = promise.get_future();
  if (ended_) {
    promise.set_value({"ended"});
    waiting_.erase(id);
    return reply;
  }
  command.insert(command.begin(), id);
  write_line(to_, command);
  return reply;
}

Fields Actor::ask(Fields command) {
  auto reply = send(std::move(command));
  return await(reply);
}

void Actor::read_replies() {
  LineReader lines{from_};
  Fields fields;
  while (lines.next(fields)) {
    const std::lock_guard guard{guard_};
    const auto found = waiting_.find(fields.at(0));
    if (found == waiting_.end()) continue;
    found->second.set_value({fields.begin() + 1, fields.end()});
    waiting_.erase(found);
  }
  const std::lock_guard guard{guard_};
  ended_ = true;
  for (auto& [id, promise] : waiting_) promise.set_value({"ended"});
  waiting_.clear();
}

void Actor::pause() {
  ::kill(pid_, SIGSTOP);
  int status = 0;
  while (waitpid(pid_, &status, WUNTRACED) < 0 && errno == EINTR) {
  }
  if (!WIFSTOPPED(status)) throw std::runtime_error{"the actor ended instead of stopping"};
}

void Actor::resume() { ::kill(pid_, SIGCONT); }

void Actor::kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  reap();
}

void Actor::quit() {
  send({"quit"});
  reap();
}

void Actor::reap() {
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

}  // namespace holdfast::contract
