// RedisDice: random calls that scripts and foreign clients might make, odd ones among them.

#pragma once

#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "engines/redis/redis_desk_scripts.h"
#include "engines/redis/redis_scripts.h"
#include "engines/redlock/redlock_scripts.h"
#include "tests/ports/redis_bed.h"

namespace holdfast::ports {

using Texts = std::vector<std::string>;

inline const Texts kKeys{"lock", "other", "counter", "high", "queue", "waiters", "holders"};
inline const Texts kOwners{"alice", "bob", "alice:b", "", "a"};
inline const Texts kClaims{"x", "s", "s", "p1", "p2", "p2", "p3"};
inline const Texts kDelays{"0", "0", "100000"};
inline const Texts kLongTtls{"100000", "200000", "900000", "310000", "x", ""};
/// For who may already hold the lock with others, where a short one counts: time must not decide.
inline const Texts kStayTtls{"100000", "200000", "900000", "310000", "x", "", "0100000", "1e6"};
/// Long or none.
inline const Texts kTtls{"100000",
                         "200000",
                         "900000",
                         "310000",
                         "100000",
                         "0",
                         "-1",
                         "x",
                         "1.5",
                         "",
                         "9223372036854775807",
                         "9223372036854775808",
                         "0100000",
                         "1e6"};
inline const Texts kNumbers{"1",
                            "2",
                            "5",
                            "1800000000000000",
                            "9007199254740990",
                            "9007199254740991",
                            "9007199254740992",
                            "9223372036854775807",
                            "-3",
                            "seven",
                            "",
                            "1e3",
                            "0x10",
                            " 7",
                            "7 8",
                            "0",
                            "1.5",
                            "inf",
                            "nan"};

/// One step: a script with its arguments, or the words of a command.
struct Step {
  const redis::Script* script{nullptr};
  Texts keys{};
  Texts words{};
};

inline std::ostream& operator<<(std::ostream& out, const Step& step) {
  if (step.script != nullptr) out << step.script->name << ' ' << testing::PrintToString(step.keys);
  return out << ' ' << testing::PrintToString(step.words);
}

class RedisDice {
 public:
  explicit RedisDice(std::uint64_t seed) : engine_{seed} {}

  std::size_t below(std::size_t end) { return engine_() % end; }
  bool one_in(std::size_t times) { return below(times) == 0; }
  const std::string& of(const Texts& texts) { return texts[below(texts.size())]; }

  Step step() { return one_in(3) ? command() : script(); }

 private:
  Step script() {
    using namespace holdfast::redis;
    using namespace holdfast::redlock;
    switch (below(12)) {
      case 0:
        return odd({&kAcquireScript,
                    lock_keys(),
                    {of(kOwners), of(kStayTtls), "note", "7", one_in(2) ? "" : "channel"}});
      case 1:
        return odd({&kReleaseScript, lock_keys(), {of(kOwners)}});
      case 2:
        return odd({&kRenewScript,
                    {of(kKeys), of(kKeys), of(kKeys), of(kKeys)},
                    {of(kTtls), of(kOwners) + ":" + of(kNumbers) + ":", of(kOwners) + ":1:"}});
      case 6:
        return odd(
            {&kRefreshScript,
             {"counter", "lock", "queue", "waiters", "holders"},
             {"channel", "7", of(kOwners), of(kLongTtls), "note", of(kClaims), of(kDelays)}});
      case 7:
        return odd({&kRemoveScript, {of(kKeys)}, {of(kOwners)}});
      case 8:
      case 9:
        return odd({&kShareScript,
                    lock_keys(),
                    {of(kOwners),
                     of(kLongTtls),
                     "note",
                     "7",
                     one_in(2) ? "" : "channel",
                     of(kClaims),
                     of(kDelays)}});
      case 10:
        return odd({&kKeepScript,
                    {"lock", "holders", of(kKeys), of(kKeys), of(kKeys), of(kKeys)},
                    {of(kLongTtls), of(kOwners) + ":" + of(kNumbers) + ":", of(kOwners) + ":1:"}});
      case 11:
        return odd({&kProlongScript, {"lock", "holders"}, {of(kOwners), of(kLongTtls)}});
      case 3:
        return odd(
            {&kTakeScript, {"lock", "counter", "high"}, {of(kOwners), of(kTtls), of(kTtls), "n"}});
      case 4:
        return odd(
            {&kConfirmScript, {"lock", "counter", "high"}, {of(kOwners), of(kNumbers), of(kTtls)}});
      default:
        return odd({&kExtendScript,
                    {"high", of(kKeys), of(kKeys), of(kKeys), of(kKeys)},
                    {of(kTtls), of(kOwners), of(kOwners)}});
    }
  }

  static Texts lock_keys() { return {"lock", "counter", "queue", "waiters", "holders"}; }

  Step command() {
    const std::string& key = of(kKeys);
    switch (below(15)) {
      case 0:
        return {.words = {"SET", key, of(kNumbers)}};
      case 1:
        return {.words = {"SET", key, of(kOwners) + ":" + of(kNumbers), "NX", "PX", of(kTtls)}};
      case 2:
        return {.words = {"PEXPIRE", key, of(kTtls)}};
      case 3:
        return {.words = {"INCR", key}};
      case 4:
        return {.words = {"EXISTS", key, of(kKeys)}};
      case 5:
        return {.words = {"PTTL", key}};
      case 6:
        return {.words = {"GET", key}};
      case 7:
        return {.words = {"RPUSH", key, of(kOwners)}};
      case 8:
        return {.words = {"HSET", key, of(kOwners), of(kNumbers)}};
      case 9:
        return {.words = {"HDEL", key, of(kOwners)}};
      case 10:
        return {.words = {"LINDEX", key, one_in(2) ? "0" : "-1"}};
      case 11:
        return {.words = {one_in(2) ? "HGET" : "LPOP", key}};
      case 12:
        // Hashes of ours have times in them.
        if (one_in(2)) return {.words = {"HGETALL", "other"}};
        return {.words = {"HLEN", key}};
      case 13:
        return {.words = {"LRANGE", key, one_in(2) ? "0" : "1", one_in(2) ? "-1" : "0"}};
      default:
        return {.words = {"DEL", key}};
    }
  }

  /// Now and then a key or an argument is missing or too many.
  Step odd(Step step) {
    if (one_in(20)) step.keys.pop_back();
    if (one_in(20)) step.words.pop_back();
    if (one_in(20)) step.words.push_back(of(kTtls));
    return step;
  }

  std::mt19937_64 engine_;
};

}  // namespace holdfast::ports
