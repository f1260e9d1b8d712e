// What sentinels and servers say about who is the master: decisions only.

#pragma once

#include <map>
#include <optional>

#include "engines/redis/driver/redis_target.h"
#include "engines/redis/redis_port.h"

namespace holdfast::redis {

/// The address in an answer to SENTINEL GET-MASTER-ADDR-BY-NAME. Empty: there is none.
std::optional<Address> read_master_address(const Reply& reply);

/// Whether an answer to ROLE is that of a master.
bool is_master(const Reply& role);

/// What the sentinels say, as far as they have answered. Thread safety: none.
class SentinelVotes {
 public:
  explicit SentinelVotes(std::size_t sentinels) : left_{sentinels}, sentinels_{sentinels} {}

  /// One has answered. Empty: it names no master.
  void count(const std::optional<Address>& vote);

  /// Who most of all sentinels name or, when all have answered, most of those that name one. Empty:
  /// not decided yet, or nobody is named.
  std::optional<Address> winner() const;
  bool complete() const { return left_ == 0; }

 private:
  std::size_t left_;
  std::size_t sentinels_;
  std::map<Address, std::size_t> votes_;
};

}  // namespace holdfast::redis
