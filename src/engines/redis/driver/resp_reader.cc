#include "engines/redis/driver/resp_reader.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace holdfast::redis {

RespReader::RespReader() : reader_{redisReaderCreateWithFunctions(&functions())} {
  HOLDFAST_ASSERT(reader_ != nullptr);
  reader_->privdata = this;
  // Kept between bursts: the parser would otherwise give its buffer back after each.
  reader_->maxbuf = std::size_t{1} << 20;
}

redisReplyObjectFunctions& RespReader::functions() {
  static redisReplyObjectFunctions functions{&create_string,
                                             &create_array,
                                             &create_integer,
                                             &create_nil,
                                             // Replies are built inside the reader.
                                             [](void*) {}};
  return functions;
}

void RespReader::feed(std::string_view bytes) {
  bytes_ += bytes.size();
  redisReaderFeed(reader_.get(), bytes.data(), bytes.size());
}

Result<std::optional<Reply>, std::string> RespReader::next() {
  void* whole = nullptr;
  if (redisReaderGetReply(reader_.get(), &whole) != REDIS_OK) return Unexpected{complaint()};
  if (whole == nullptr) {
    if (bytes_ > kBytesMax) return Unexpected{std::string{"sent a reply of more than 64 MiB"}};
    return std::optional<Reply>{};
  }
  bytes_ = reader_->len - reader_->pos;
  parts_ = 0;
  return std::optional<Reply>{std::exchange(root_, Reply{})};
}

std::string RespReader::complaint() const {
  if (parts_ > kPartsMax) return "sent a reply of more than a million parts";
  const std::string_view cause{reader_->errstr};
  if (cause.find("nested") != std::string_view::npos) {
    return "sent a reply nested more than 7 deep";
  }
  return "does not speak the Redis protocol";
}

RespReader& RespReader::reader_of(const redisReadTask* task) {
  return *static_cast<RespReader*>(task->privdata);
}

// Only the last part of an array can be an array that is still being read, so that no pointer the
// parser keeps moves when its array grows.
Reply* RespReader::place(const redisReadTask* task) {
  if (++parts_ > kPartsMax) return nullptr;
  if (task->parent == nullptr) return &root_;
  return &static_cast<Reply*>(task->parent->obj)->items.emplace_back();
}

void* RespReader::create_string(const redisReadTask* task, char* text, std::size_t size) noexcept {
  Reply* const reply = reader_of(task).place(task);
  if (reply == nullptr) return nullptr;
  reply->kind = task->type == REDIS_REPLY_ERROR ? Reply::Kind::error : Reply::Kind::text;
  reply->text.assign(text, size);
  return reply;
}

void* RespReader::create_array(const redisReadTask* task, int size) noexcept {
  Reply* const reply = reader_of(task).place(task);
  if (reply == nullptr) return nullptr;
  reply->kind = Reply::Kind::array;
  // What a server announces is not yet what it sends.
  reply->items.reserve(static_cast<std::size_t>(std::clamp(size, 0, 1024)));
  return reply;
}

void* RespReader::create_integer(const redisReadTask* task, long long value) noexcept {
  Reply* const reply = reader_of(task).place(task);
  if (reply == nullptr) return nullptr;
  reply->kind = Reply::Kind::integer;
  reply->integer = value;
  return reply;
}

void* RespReader::create_nil(const redisReadTask* task) noexcept {
  return reader_of(task).place(task);
}

}  // namespace holdfast::redis
