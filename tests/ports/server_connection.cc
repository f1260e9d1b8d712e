#include "tests/ports/server_connection.h"

#include <utility>

namespace holdfast::ports {
namespace {

using redis::Reply;

constexpr timeval kPatience{.tv_sec = 20, .tv_usec = 0};

Reply reply_of(const redisReply& reply) {
  switch (reply.type) {
    case REDIS_REPLY_INTEGER:
      return Reply::of_integer(reply.integer);
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
      return Reply::of_text({reply.str, reply.len});
    case REDIS_REPLY_ERROR:
      return Reply::of_error({reply.str, reply.len});
    case REDIS_REPLY_ARRAY: {
      Reply array = Reply::of_array({});
      for (std::size_t i = 0; i < reply.elements; ++i) {
        array.items.push_back(reply_of(*reply.element[i]));
      }
      return array;
    }
    default:
      return {};
  }
}

}  // namespace

Result<Reply> ServerConnection::received(void* reply) {
  if (reply == nullptr) {
    Error error{Errc::unknown_outcome, context_->errstr};
    context_.reset();
    return Unexpected{std::move(error)};
  }
  const std::unique_ptr<redisReply, Free> owned{static_cast<redisReply*>(reply)};
  return reply_of(*owned);
}

Result<Reply> ServerConnection::command(const std::vector<std::string>& words) {
  if (context_ == nullptr) {
    context_.reset(redisConnectUnixWithTimeout(socket_.c_str(), kPatience));
    if (context_ == nullptr || context_->err != 0) {
      context_.reset();
      return Unexpected{Error{Errc::unavailable, "no connection to the server"}};
    }
    redisSetTimeout(context_.get(), kPatience);
  }
  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
  for (const std::string& word : words) {
    texts.push_back(word.data());
    sizes.push_back(word.size());
  }
  return received(
      redisCommandArgv(context_.get(), static_cast<int>(words.size()), texts.data(), sizes.data()));
}

Result<Reply> ServerConnection::next() {
  void* reply = nullptr;
  redisGetReply(context_.get(), &reply);
  return received(reply);
}

Result<Reply> ServerConnection::eval(const redis::ScriptCall& call) {
  std::vector<std::string> words{
      "EVAL", std::string{call.script->source}, std::to_string(call.keys.size())};
  words.insert(words.end(), call.keys.begin(), call.keys.end());
  words.insert(words.end(), call.args.begin(), call.args.end());
  return command(words);
}

}  // namespace holdfast::ports
