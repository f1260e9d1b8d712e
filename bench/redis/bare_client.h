// What a lock cannot be faster than: the scripts that take and release it, sent by a plain
// blocking client that does nothing else.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "holdfast/result.h"

struct redisContext;

namespace holdfast::bench {

/// Thread safety: none. Asserts that the server answers, and without errors.
class BareClient {
 public:
  /// unavailable: nobody answers there.
  static Result<BareClient> connect(std::uint16_t port);

  /// An EVALSHA in the bytes of the protocol, ready to be sent again and again.
  struct Request {
    std::string bytes;
  };

  /// The scripts with which the engine takes and releases the lock of that name.
  Request acquire_request(const std::string& name);
  Request release_request(const std::string& name);

  /// Sends it and waits for the answer.
  void round_trip(const Request& request);

  /// Sends it; the answers are read in the same order.
  void send(const std::string& bytes);
  void read_answers(std::size_t count);

  /// One number that a command answers.
  std::int64_t number(const std::vector<std::string>& words);
  /// One text that a command answers.
  std::string text(const std::vector<std::string>& words);

 private:
  struct Free {
    void operator()(redisContext* context) const;
  };

  explicit BareClient(redisContext* context) : context_{context} {}

  std::unique_ptr<redisContext, Free> context_;
};

/// How many requests the server has been sent that run scripts, and how many that do anything
/// else but ask for this. What scripts do inside does not count.
struct ServerLoad {
  double scripts{0};
  double others{0};
};
ServerLoad load_of(BareClient& client);

}  // namespace holdfast::bench
