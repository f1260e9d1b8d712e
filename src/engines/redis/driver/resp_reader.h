// RespReader: replies out of the bytes of a connection. The parser is hiredis'.
//
// Thread safety: none.

#pragma once

#include <hiredis/read.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engines/redis/redis_port.h"

namespace holdfast::redis {

class RespReader {
 public:
  /// No reply is larger than this, in bytes on the wire.
  static constexpr std::size_t kBytesMax = std::size_t{64} << 20;
  /// Nor has more parts: a part of four bytes becomes an object of a hundred.
  static constexpr std::size_t kPartsMax = std::size_t{1} << 20;

  RespReader();

  void feed(std::string_view bytes);

  /// The next whole reply; empty when more bytes are needed. The error says what is wrong with the
  /// bytes: not the Redis protocol, or a reply too large or nested too deeply. The connection is of
  /// no use afterwards.
  Result<std::optional<Reply>, std::string> next();

 private:
  struct Free {
    void operator()(redisReader* reader) const { redisReaderFree(reader); }
  };

  static RespReader& reader_of(const redisReadTask* task);
  static void* create_string(const redisReadTask* task, char* text, std::size_t size) noexcept;
  static void* create_array(const redisReadTask* task, int size) noexcept;
  static void* create_integer(const redisReadTask* task, long long value) noexcept;
  static void* create_nil(const redisReadTask* task) noexcept;
  static redisReplyObjectFunctions& functions();

  Reply* place(const redisReadTask* task);
  std::string complaint() const;

  std::unique_ptr<redisReader, Free> reader_;
  Reply root_;
  std::size_t parts_{0};
  /// Fed since the last whole reply.
  std::size_t bytes_{0};
};

}  // namespace holdfast::redis
