#include "engines/redis/driver/failure.h"

#include <boost/asio/error.hpp>

namespace holdfast::redis {
namespace {

std::string text_of(const boost::system::error_code& said) {
  if (said == boost::asio::error::eof) return "the server closed the connection";
  std::string text = said.message();
  // The system begins its sentences with a capital letter; ours go on after a colon.
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') text[0] += 'a' - 'A';
  return text;
}

}  // namespace

Error error_at(const RedisTarget& target, Errc code, const std::string& what) {
  return {code, "Redis " + target.node() + ": " + what};
}

Failure passing_failure(const RedisTarget& target, const boost::system::error_code& said) {
  return passing_failure(target, text_of(said));
}

Failure passing_failure(const RedisTarget& target, const std::string& what) {
  return {error_at(target, Errc::unavailable, what), Failure::Cause::passing};
}

Failure failure_of(const Error& error) {
  const bool may_pass = error.code == Errc::unavailable || error.code == Errc::unknown_outcome;
  return {error, may_pass ? Failure::Cause::passing : Failure::Cause::lasting};
}

}  // namespace holdfast::redis
