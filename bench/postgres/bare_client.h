// What a lock cannot be faster than: libpq, on one connection, in a loop that does nothing else.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "holdfast/result.h"

struct pg_conn;

namespace holdfast::bench {

/// Statements are prepared, and each is a transaction. Blocks for each answer. Thread safety: none.
/// Asserts that the server answers, and without errors.
class BarePostgres {
 public:
  /// unavailable: nobody answers there.
  static Result<std::unique_ptr<BarePostgres>> connect(std::uint16_t port);
  ~BarePostgres();
  BarePostgres(const BarePostgres&) = delete;
  BarePostgres& operator=(const BarePostgres&) = delete;

  /// pg_advisory_lock and pg_advisory_unlock.
  void lock();
  void unlock();

  /// A row with as much in it as a lease has; and its end.
  void insert();
  void erase();
  /// Writes that value into the row of a key, which may be there.
  void put(const std::string& value);

  /// One notice, and the wait for one.
  void notify();
  void wait();
  void ask();

  /// How many hold the lock of that name or wait for it, in lease mode.
  std::size_t contenders(const std::string& name);

 private:
  explicit BarePostgres(pg_conn* client);
  void prepare(const char* name, const char* sql);
  std::string run(const char* name, const std::string& argument = {});

  pg_conn* client_;
};

}  // namespace holdfast::bench
