#include "tests/regressions/raw_redis.h"

#include <hiredis/hiredis.h>

#include <stdexcept>

namespace holdfast::regressions {
namespace {

std::string text_of(const redisReply& reply) {
  if (reply.type == REDIS_REPLY_INTEGER) return std::to_string(reply.integer);
  if (reply.type != REDIS_REPLY_ARRAY) return {reply.str, reply.len};
  std::string lines;
  for (std::size_t i = 0; i < reply.elements; ++i) lines += text_of(*reply.element[i]) + '\n';
  return lines;
}

}  // namespace

void RawRedis::Free::operator()(redisContext* context) const { redisFree(context); }

RawRedis::RawRedis(const std::string& socket) : context_{redisConnectUnix(socket.c_str())} {
  if (!context_ || context_->err != 0) throw std::runtime_error{"no server at " + socket};
}

std::string RawRedis::ask(const std::vector<std::string>& words) {
  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
  for (const std::string& word : words) {
    texts.push_back(word.data());
    sizes.push_back(word.size());
  }
  auto* const reply = static_cast<redisReply*>(
      redisCommandArgv(context_.get(), static_cast<int>(words.size()), texts.data(), sizes.data()));
  if (reply == nullptr) throw std::runtime_error{"no answer to " + words.front()};
  std::string answer = text_of(*reply);
  freeReplyObject(reply);
  return answer;
}

std::int64_t RawRedis::scripts() { return statistic("calls="); }

std::int64_t RawRedis::refused_scripts() { return statistic("rejected_calls="); }

std::int64_t RawRedis::statistic(const std::string& field) {
  const std::string all = ask({"INFO", "commandstats"});
  std::int64_t sum = 0;
  for (const std::string command : {"cmdstat_eval:", "cmdstat_evalsha:"}) {
    const std::size_t line = all.find(command);
    if (line == std::string::npos) continue;
    // "calls=" is also the end of "rejected_calls=" and "failed_calls=", which come later.
    sum += std::stoll(all.substr(all.find(field, line) + field.size()));
  }
  return sum;
}

}  // namespace holdfast::regressions
