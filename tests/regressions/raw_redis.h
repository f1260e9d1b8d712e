// RawRedis: any command at a server, past everything that is under test.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct redisContext;

namespace holdfast::regressions {

/// Thread safety: none. Throws when there is no answer.
class RawRedis {
 public:
  explicit RawRedis(const std::string& socket);

  /// The answer, numbers and arrays as text; the parts of an array by lines.
  std::string ask(const std::vector<std::string>& words);
  std::int64_t number(const std::vector<std::string>& words) { return std::stoll(ask(words)); }

  /// How often the server has run scripts since reset_counts().
  std::int64_t scripts();
  /// How often it refused to.
  std::int64_t refused_scripts();
  void reset_counts() { ask({"CONFIG", "RESETSTAT"}); }

 private:
  struct Free {
    void operator()(redisContext* context) const;
  };
  std::int64_t statistic(const std::string& field);

  std::unique_ptr<redisContext, Free> context_;
};

}  // namespace holdfast::regressions
