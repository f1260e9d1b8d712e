#include "bench/redis/bare_client.h"

#include <hiredis/hiredis.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "base/assert.h"
#include "base/secret.h"
#include "engines/redis/redis_keys.h"
#include "engines/redis/redis_scripts.h"

namespace holdfast::bench {
namespace {

struct FreeReply {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using ReplyPtr = std::unique_ptr<redisReply, FreeReply>;

std::string encode(const std::vector<std::string>& words) {
  std::string bytes = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string& word : words) {
    bytes += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  }
  return bytes;
}

ReplyPtr read_reply(redisContext& context) {
  void* reply = nullptr;
  const int done = redisGetReply(&context, &reply);
  HOLDFAST_ASSERT(done == REDIS_OK && reply != nullptr);
  ReplyPtr answer{static_cast<redisReply*>(reply)};
  HOLDFAST_ASSERT(answer->type != REDIS_REPLY_ERROR);
  return answer;
}

ReplyPtr command(redisContext& context, const std::vector<std::string>& words) {
  const std::string bytes = encode(words);
  HOLDFAST_ASSERT(redisAppendFormattedCommand(&context, bytes.data(), bytes.size()) == REDIS_OK);
  return read_reply(context);
}

std::vector<std::string> keys_of(const std::string& name) {
  const redis::Keys keys{"hf:"};
  const LockName lock{name};
  return {keys.lock(lock),
          keys.counter(lock),
          keys.queue(lock),
          keys.waiters(lock),
          keys.holders(lock)};
}

const std::string& owner() {
  static const std::string text = fresh_owner().to_string();
  return text;
}

BareClient::Request request(BareClient& client,
                            const redis::Script& script,
                            const std::string& name,
                            const std::vector<std::string>& arguments) {
  const std::string hash = client.text({"SCRIPT", "LOAD", std::string{script.source}});
  const std::vector<std::string> keys = keys_of(name);
  std::vector<std::string> words{"EVALSHA", hash, std::to_string(keys.size())};
  words.insert(words.end(), keys.begin(), keys.end());
  words.insert(words.end(), arguments.begin(), arguments.end());
  return {encode(words)};
}

double calls_of(const std::string& statistics, const std::string& command) {
  const std::string begin = "cmdstat_" + command + ":calls=";
  const auto at = statistics.find(begin);
  return at == std::string::npos ? 0 : std::strtod(&statistics[at + begin.size()], nullptr);
}

}  // namespace

void BareClient::Free::operator()(redisContext* context) const { redisFree(context); }

Result<BareClient> BareClient::connect(std::uint16_t port) {
  BareClient client{redisConnect("127.0.0.1", port)};
  if (client.context_ == nullptr || client.context_->err != 0) {
    return Unexpected{Error{Errc::unavailable, "no Redis at port " + std::to_string(port)}};
  }
  return client;
}

BareClient::Request BareClient::acquire_request(const std::string& name) {
  // A note and a channel as long as those of the engine.
  const std::string note(64, 'n');
  const std::string channel(24, 'c');
  return request(
      *this, redis::kAcquireScript, name, {owner(), "30000", note, "123456789012345", channel});
}

BareClient::Request BareClient::release_request(const std::string& name) {
  return request(*this, redis::kReleaseScript, name, {owner()});
}

void BareClient::round_trip(const Request& request) {
  send(request.bytes);
  read_answers(1);
}

// Not by the library, which would copy the bytes first.
void BareClient::send(const std::string& bytes) {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t count = write(context_->fd, &bytes[sent], bytes.size() - sent);
    HOLDFAST_ASSERT(count > 0);
    sent += static_cast<std::size_t>(count);
  }
}

void BareClient::read_answers(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) read_reply(*context_);
}

std::int64_t BareClient::number(const std::vector<std::string>& words) {
  return command(*context_, words)->integer;
}

std::string BareClient::text(const std::vector<std::string>& words) {
  const ReplyPtr reply = command(*context_, words);
  return {reply->str, static_cast<std::size_t>(reply->len)};
}

ServerLoad load_of(BareClient& client) {
  const std::string statistics = client.text({"INFO", "commandstats"});
  ServerLoad load;
  for (const char* script : {"eval", "evalsha", "fcall"}) {
    load.scripts += calls_of(statistics, script);
  }
  for (const char* other :
       {"ping", "subscribe", "unsubscribe", "hello", "auth", "client|setname"}) {
    load.others += calls_of(statistics, other);
  }
  return load;
}

}  // namespace holdfast::bench
