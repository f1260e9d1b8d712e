#include "tests/redis_store/store_bed.h"

#include <csignal>

#include "engines/redis/store/store_answer.h"
#include "engines/redis/store/store_call.h"

namespace holdfast::redis_store {
namespace {

/// One for all tests; each finds it empty.
ports::RedisProcess& shared_server() {
  // hiredis writes to connections that the server may have closed.
  std::signal(SIGPIPE, SIG_IGN);
  static ports::RedisProcess server;
  return server;
}

}  // namespace

StoreBed::StoreBed()
    : server_{shared_server()},
      foreign_{server_.socket()},
      env_{std::move(runtime::AsioEnv::create().value())},
      port_{std::make_shared<FaultyPort>(*env_, server_.socket())},
      store_{std::make_shared<redis::RedisStore>(
          *env_,
          port_,
          redis::StoreSettings{.prefix = kPrefix, .timeout = Millis{5000}, .who = "the tests"})} {
  command({"FLUSHALL"});
}

redis::Reply StoreBed::command(const std::vector<std::string>& words) {
  const auto reply = foreign_.command(words);
  if (reply) return *reply;
  ADD_FAILURE() << words.front() << ": " << reply.error().message;
  return redis::Reply::of_error("no answer");
}

StoreResult StoreBed::other(const StoreRequest& request) {
  static std::uint64_t number = 0;
  const redis::StoreTicket ticket{
      .id = "other" + std::to_string(++number), .timeout = Millis{5000}, .who = "another"};
  const auto reply = foreign_.eval(redis::to_call(request, kPrefix, ticket, core::Attempt::first));
  if (!reply) return Unexpected{StoreError{reply.error()}};
  return redis::read_store_answer(request, *reply).result;
}

Errc StoreBed::code_of(const StoreRequest& request) {
  const auto result = store().perform(request);
  return result ? Errc{} : result.error().code;
}

std::optional<std::string> StoreBed::stored(const std::string& key) {
  const auto found = other({.key = key, .operation = GetKey{}});
  if (!found || !found->entry) return std::nullopt;
  return found->entry->value;
}

core::Holder StoreBed::holder(std::uint64_t token, Mode mode) {
  return {.domain = "redis:somewhere#x",
          .mode = mode,
          .token = Token{token},
          .owner_fp = "owner-" + std::to_string(token)};
}

StoreRequest StoreBed::open(std::uint64_t token, Space space) {
  return {.space = space, .key = "k", .operation = OpenResource{.holder = holder(token)}};
}

StoreRequest StoreBed::read(std::uint64_t token, Space space) {
  return {.space = space,
          .key = "k",
          .operation = ReadResource{.holder = holder(token), .opened = core::Opened::before}};
}

StoreRequest StoreBed::write(std::uint64_t token, std::uint64_t sequence, std::string value) {
  return {.key = "k",
          .operation = WriteResource{
              .holder = holder(token), .sequence = sequence, .value = std::move(value)}};
}

StoreRequest StoreBed::put(std::string value, std::optional<Version> if_version) {
  return {.key = "k", .operation = PutKey{.value = std::move(value), .if_version = if_version}};
}

StoreRequest StoreBed::erase(std::optional<Version> if_version) {
  return {.key = "k", .operation = EraseKey{.if_version = if_version}};
}

}  // namespace holdfast::redis_store
