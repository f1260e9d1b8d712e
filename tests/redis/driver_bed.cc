#include "tests/redis/driver_bed.h"

#include <utility>

#include "base/assert.h"

namespace holdfast::redis {

const Script kEcho{"echo", "return ARGV[1]"};

DriverBed::DriverBed(RedisTarget target, RedisDriverSettings settings)
    : env_{*runtime::AsioEnv::create()},
      driver_{*RedisDriver::create(*env_, std::move(target), settings)} {}

DriverBed::~DriverBed() {
  on_env([this] { driver_.reset(); });
}

void DriverBed::on_env(const std::function<void()>& work) {
  std::promise<void> done;
  auto future = done.get_future();
  env_->post([&] {
    work();
    done.set_value();
  });
  get(std::move(future));
}

DriverBed::Answer DriverBed::echo_now(const std::string& text, Duration within) {
  auto promise = std::make_shared<std::promise<Result<Reply>>>();
  auto answer = promise->get_future();
  const SharedCall call = share({.script = &kEcho, .keys = {}, .args = {text}});
  driver_->send(call, env_->now() + within, [promise](Result<Reply> reply) {
    promise->set_value(std::move(reply));
  });
  return answer;
}

DriverBed::Answer DriverBed::echo(const std::string& text, Duration within) {
  Answer answer;
  on_env([&] { answer = echo_now(text, within); });
  return answer;
}

std::vector<DriverBed::Answer> DriverBed::echo_many(int count, Duration within) {
  std::vector<Answer> answers;
  on_env([&] { answers = echo_many_now(count, within); });
  return answers;
}

std::vector<DriverBed::Answer> DriverBed::echo_many_now(int count, Duration within) {
  std::vector<Answer> answers;
  for (int i = 0; i < count; ++i) answers.push_back(echo_now(std::to_string(i), within));
  return answers;
}

DriverBed::Answer DriverBed::command(std::vector<std::string> words, Duration within) {
  auto promise = std::make_shared<std::promise<Result<Reply>>>();
  auto answer = promise->get_future();
  on_env([&] {
    driver_->command(words, env_->now() + within, [promise](Result<Reply> reply) {
      promise->set_value(std::move(reply));
    });
  });
  return answer;
}

RedisDriver::Stats DriverBed::stats() {
  RedisDriver::Stats stats;
  on_env([&] { stats = driver_->stats(); });
  return stats;
}

OnHeard Ear::on_heard() {
  return [box = box_](const Heard& heard) {
    const std::lock_guard lock{box->mutex};
    box->heard.push_back(heard.kind == Heard::Kind::listening ? "listening"
                                                              : "message:" + heard.text);
    box->changed.notify_all();
  };
}

std::string Ear::next() {
  std::unique_lock lock{box_->mutex};
  if (!box_->changed.wait_for(lock, kBound, [this] { return !box_->heard.empty(); })) {
    return "nothing";
  }
  std::string first = std::move(box_->heard.front());
  box_->heard.pop_front();
  return first;
}

}  // namespace holdfast::redis
