// The contract of PostgresPort, as zookeeper_bed.h has it for ZooKeeper: one suite, on the model
// server of the simulator and on the real one alike.
//
// A bed gives a Port to a server with the schema of the lease mode in it. Each bed's source
// instantiates the suite for itself: HOLDFAST_POSTGRES_PORT_ON(Server, make_postgres_server_bed). A
// server is shared between tests: names of a test are those of at(), and tokens are compared, not
// counted.

#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/env.h"
#include "engines/postgres/lease_statements.h"
#include "engines/postgres/postgres_port.h"

namespace holdfast::ports {

/// Far longer than anything here takes. The time of the bed's Env.
inline constexpr std::chrono::seconds kPostgresBound{30};

class PostgresPortBed {
 public:
  virtual ~PostgresPortBed() = default;

  /// Used within on_env() alone.
  virtual postgres::PostgresPort& port() = 0;
  virtual Env& env() = 0;

  /// Runs `work` between tasks of the Env, and waits for it.
  virtual void on_env(const std::function<void()>& work) = 0;

  /// Lets time pass until `done`, asked between tasks of the Env again and again, says so. Whether
  /// it did within kPostgresBound.
  virtual bool go_on_until(const std::function<bool()>& done) = 0;

  /// The server ends the backend.
  virtual void terminate(std::int32_t backend) = 0;

  /// Whether a session attends as that number.
  virtual bool attended(const std::string& number) = 0;
};

using MakePostgresBed = std::unique_ptr<PostgresPortBed> (*)();

/// Over a PostgreSQL server that the beds share.
std::unique_ptr<PostgresPortBed> make_postgres_server_bed();

/// A session of a test, and what it told so far, in order.
struct PostgresTalk {
  /// An event, or the answer to a statement.
  using Word = std::variant<postgres::SessionEvent, Result<postgres::Answer>>;

  std::unique_ptr<postgres::PostgresSession> session;
  std::shared_ptr<std::deque<Word>> said{std::make_shared<std::deque<Word>>()};
  /// Which it attends as, in text.
  std::string number{};
};

/// Statements and sessions, on a bed, that wait for what they bring.
class PostgresTalks {
 public:
  explicit PostgresTalks(PostgresPortBed& bed) : bed_{bed} {}
  ~PostgresTalks();
  PostgresTalks(const PostgresTalks&) = delete;
  PostgresTalks& operator=(const PostgresTalks&) = delete;

  /// Runs a statement on the pool.
  Result<postgres::Answer> try_ask(const postgres::Statement& statement,
                                   std::vector<postgres::Value> args);
  /// The same where it must not fail.
  postgres::Rows ask(const postgres::Statement& statement, std::vector<postgres::Value> args);

  PostgresTalk& begin();
  /// Opens a session, and waits until it is connected.
  PostgresTalk& open();
  /// Opens one that attends, as a number of its own.
  PostgresTalk& attend();
  /// Ends it, and waits until the server has noticed.
  void leave(PostgresTalk& talk);

  /// Sends a statement; its answer is heard in next().
  void send(PostgresTalk& talk,
            const postgres::Statement& statement,
            std::vector<postgres::Value> args);
  /// The next thing told. Fails the test when none comes.
  PostgresTalk::Word next(PostgresTalk& talk);
  postgres::SessionEvent next_event(PostgresTalk& talk);
  Result<postgres::Answer> next_answer(PostgresTalk& talk);
  /// What is said on its channel next.
  std::string next_notice(PostgresTalk& talk);

 private:
  PostgresPortBed& bed_;
  std::deque<PostgresTalk> talks_;
};

class PostgresPortTest : public testing::TestWithParam<MakePostgresBed> {
 protected:
  /// A name of this test.
  std::string at(const std::string& name) const { return root_ + name; }

  /// One acquire by `owner`, with what is unusual about it.
  struct Asked {
    std::string owner;
    std::string claim{"x"};
    postgres::Value session{};
    std::string waits{"f"};
    std::string ttl{"60000"};
    std::string delay{"0"};
  };
  postgres::Row acquire(const Asked& asked);
  /// `granted`, `busy`, …
  std::string outcome(const Asked& asked);
  /// Its token; fails the test when it is not granted.
  std::uint64_t take(const Asked& asked);
  bool release(const std::string& owner, postgres::Value token = {});
  /// Of the lease that the owner has; empty: it has none.
  std::string token_of(const std::string& owner);
  std::string renew(const std::string& owner, std::uint64_t token, const char* ttl = "60000");

  std::unique_ptr<PostgresPortBed> bed_ = GetParam()();
  PostgresTalks talks_{*bed_};

 private:
  const std::string root_ = fresh_root();
  static std::string fresh_root();
};

#define HOLDFAST_POSTGRES_PORT_ON(bed, maker)                                                \
  INSTANTIATE_TEST_SUITE_P(bed, PostgresPortTest, testing::Values(&maker), [](const auto&) { \
    return std::string{#bed};                                                                \
  })

}  // namespace holdfast::ports
