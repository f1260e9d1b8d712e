#include "engines/redis/driver/greeting.h"

#include "engines/redis/driver/resp_writer.h"

namespace holdfast::redis {

Greeting::Greeting(const RedisTarget& target) : target_{target} {
  if (!target.password.empty() || !target.user.empty()) {
    steps_.push_back(Step::authenticate);
    if (target.user.empty()) {
      append_command(bytes_, {"AUTH", target.password});
    } else {
      append_command(bytes_, {"AUTH", target.user, target.password});
    }
  }
  if (target.database != 0) {
    steps_.push_back(Step::select_database);
    append_command(bytes_, {"SELECT", std::to_string(target.database)});
  }
  steps_.push_back(Step::say_name);
  append_command(bytes_, {"CLIENT", "SETNAME", "holdfast"});
}

Result<void, Failure> Greeting::check(Step step, const Reply& reply) const {
  if (reply.kind != Reply::Kind::error) return {};
  const std::string& text = reply.text;
  // A server that is full says so in place of the first answer.
  if (text.starts_with("ERR max number of clients")) {
    return Unexpected{passing_failure(target_, text)};
  }
  const bool locked_out =
      text.starts_with("NOAUTH") || text.starts_with("DENIED") || text.starts_with("WRONGPASS");
  // Not every user may name itself, and not every server knows the command.
  if (step == Step::say_name && !locked_out) return {};
  const bool is_wrong_database = step == Step::select_database && text.starts_with("ERR");
  const Errc code = is_wrong_database ? Errc::invalid_argument : Errc::denied;
  // Such an answer repeats what was sent, credentials included.
  if (text.starts_with("ERR unknown command")) {
    const Error error = error_at(target_, Errc::denied, "the server does not know a command");
    return Unexpected{Failure{error, Failure::Cause::lasting}};
  }
  const std::string what =
      is_wrong_database ? "database " + std::to_string(target_.database) + ": " + text : text;
  return Unexpected{Failure{error_at(target_, code, what), Failure::Cause::lasting}};
}

}  // namespace holdfast::redis
