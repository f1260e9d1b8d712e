// What a lock cannot be faster than: the C client, on one session, in a loop that does nothing
// else.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "holdfast/result.h"

struct _zhandle;

namespace holdfast::bench {

/// Blocks for each answer. Thread safety: none. Asserts that the server answers, and without
/// errors.
class BareZookeeper {
 public:
  /// unavailable: nobody answers there.
  static Result<std::unique_ptr<BareZookeeper>> connect(std::uint16_t port);
  ~BareZookeeper();
  BareZookeeper(const BareZookeeper&) = delete;
  BareZookeeper& operator=(const BareZookeeper&) = delete;

  /// An ephemeral node with as much data as a contender has. It is not there.
  void create(const std::string& path);
  void erase(const std::string& path);
  /// Makes what is above ephemeral nodes; it may be there.
  void create_parent(const std::string& path);

  /// Reads a node that is there, and will hear when it is erased.
  void watch(const std::string& path);
  /// Blocks until that is so.
  void wait();

  /// How many children it has; none when it is not there.
  std::size_t children(const std::string& path);

  /// Pairs of create and erase per second for so long, of which always so many are under way.
  double rate(std::size_t callers, double seconds);

 private:
  struct Caller;
  struct Waiting;

  explicit BareZookeeper(_zhandle* client) : client_{client} {}
  void step();
  int wait_for(const Waiting& waiting);
  static void on_erased(_zhandle*, int type, int, const char*, void* context);

  _zhandle* client_;
  int erasures_{0};
  int heard_{0};
};

}  // namespace holdfast::bench
