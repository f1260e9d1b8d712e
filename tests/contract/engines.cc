#include "tests/contract/engines.h"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

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

constexpr Capabilities kEverything{.shared = true,
                                   .permits = true,
                                   .fifo = true,
                                   .detached = true,
                                   .lock_delay = true,
                                   .watch = true,
                                   .store = true};

constexpr Capabilities kRedis{.shared = false,
                              .permits = false,
                              .fifo = true,
                              .detached = true,
                              .lock_delay = false,
                              .watch = true,
                              .store = true};

}  // namespace

std::vector<EngineUnderTest> engines_under_test() {
  return {
      {.name = "local", .fresh = [] { return fresh_local(""); }, .can = kEverything},
      {.name = "local_prefix",
       .fresh = [] { return fresh_local("?prefix=team%20a/"); },
       .can = kEverything},
      {.name = "redis",
       .fresh = [] { return fresh_redis(""); },
       .can = kRedis,
       .ttl_of_the_dying = Millis{500}},
      {.name = "redis_prefix",
       .fresh = [] { return fresh_redis("?prefix=team%20{a}*/"); },
       .can = kRedis,
       .ttl_of_the_dying = Millis{500}},
  };
}

std::vector<EngineUnderTest> campaign_engines() {
  return {{.name = "local", .fresh = [] { return fresh_local("?sync=off"); }, .can = kEverything}};
}

}  // namespace holdfast::contract
