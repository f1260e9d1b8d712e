// One process of a demonstration, from the inside: does what it is told, one command at a time.

#pragma once

#include <optional>
#include <string>

#include "holdfast/client.h"
#include "lab/message.h"

namespace holdfast::lab {

/// Where a process works.
struct Role {
  std::string engine;
  /// The name of the lock and of the resource it protects.
  std::string subject;
};

class Worker {
 public:
  explicit Worker(Role role);

  Report obey(const Command& command);

 private:
  Report perform(const Command& command);
  Report put(std::int64_t value);
  Report acquire(Millis ttl);
  Report open();
  Report read(Access access);
  Report decide(std::int64_t change);
  Report write(Access access);
  Report release();
  Report look();

  Report seen(const std::optional<Entry>& entry);
  Report write_fenced(const std::string& value);
  Report answer(Answer answer) const;
  Report refuse(const StoreError& error) const;

  Role role_;
  Result<Client> client_;
  Result<Store> store_;
  std::optional<Lease> lease_;
  std::optional<Resource> resource_;
  std::int64_t value_{0};
  Version version_{Version::absent()};
};

/// Obeys what comes over the socket until its end. Never returns.
[[noreturn]] void work(int socket, Role role);

}  // namespace holdfast::lab
