#include "tests/contract/engines.h"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "tests/contract/redlock_nodes.h"
#include "tests/ports/redis_process.h"

namespace holdfast::contract {
namespace {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    path_ = (std::filesystem::temp_directory_path() / "holdfast-contract-XXXXXX").string();
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error{"cannot create " + path_};
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

FreshEngine fresh_local(const std::string& query) {
  auto directory = std::make_shared<TemporaryDirectory>();
  return {.url = "local:" + directory->path() + query, .resources = directory};
}

FreshEngine fresh_redis(const std::string& parameters) {
  auto server = std::make_shared<ports::RedisProcess>();
  return {.url = "redis+unix://" + server->socket() + parameters, .resources = server};
}

FreshEngine fresh_redlock(std::size_t nodes, const Trouble& trouble = {}) {
  auto set = std::make_shared<RedlockNodes>(nodes, trouble);
  return {.url = set->url(), .resources = set};
}

constexpr Capabilities kEverything{.shared = true,
                                   .permits = true,
                                   .fifo = true,
                                   .detached = true,
                                   .lock_delay = true,
                                   .watch = true,
                                   .store = true};

constexpr Capabilities kRedlock{.shared = false,
                                .permits = false,
                                .fifo = false,
                                .detached = true,
                                .lock_delay = false,
                                .watch = true,
                                .store = false};

EngineUnderTest redlock(std::string name, std::size_t nodes, const Trouble& trouble) {
  return {.name = std::move(name),
          .fresh = [nodes, trouble] { return fresh_redlock(nodes, trouble); },
          .can = kRedlock,
          .ttl_of_the_dying = Millis{500}};
}

}  // namespace

std::vector<EngineUnderTest> engines_under_test() {
  return {
      {.name = "local", .fresh = [] { return fresh_local(""); }, .can = kEverything},
      {.name = "local_prefix",
       .fresh = [] { return fresh_local("?prefix=team%20a/"); },
       .can = kEverything},
      {.name = "redis",
       .fresh = [] { return fresh_redis(""); },
       .can = kEverything,
       .ttl_of_the_dying = Millis{500}},
      {.name = "redis_prefix",
       .fresh = [] { return fresh_redis("?prefix=team%20{a}*/"); },
       .can = kEverything,
       .ttl_of_the_dying = Millis{500}},
      redlock("redlock_3", 3, {}),
      redlock("redlock_5", 5, {}),
      redlock("redlock_5_one_down", 5, {.down = 1}),
      redlock("redlock_5_two_down", 5, {.down = 2}),
      redlock("redlock_3_one_hung", 3, {.hung = 1}),
      redlock("redlock_3_one_raving", 3, {.raving = 1}),
  };
}

std::vector<EngineUnderTest> campaign_engines() {
  return {{.name = "local", .fresh = [] { return fresh_local("?sync=off"); }, .can = kEverything}};
}

}  // namespace holdfast::contract
