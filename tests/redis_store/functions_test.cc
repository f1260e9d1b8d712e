// The library of Redis functions: the examples of the guide do what the guide says, and those who
// use the functions and those who use the store fence each other.

#include <cstdio>
#include <fstream>
#include <regex>

#include "core/fence.h"
#include "engines/redis/store/store_call.h"
#include "engines/redis/store/store_script.h"
#include "tests/redis_store/store_bed.h"

namespace holdfast::redis_store {
namespace {

std::string contents(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

/// The first block of code of that kind in the guide.
std::string example(const std::string& language) {
  const std::string guide = contents(HOLDFAST_STORE_GUIDE);
  const std::string fence = "```" + language + "\n";
  const std::size_t begin = guide.find(fence);
  if (begin == std::string::npos) return {};
  const std::size_t code = begin + fence.size();
  return guide.substr(code, guide.find("```", code) - code);
}

/// Versions are of the day.
std::string without_versions(const std::string& text) {
  return std::regex_replace(text, std::regex{"[0-9]{16}"}, "VERSION");
}

class FunctionsTest : public StoreBed {
 protected:
  void load() {
    const auto loaded = command({"FUNCTION", "LOAD", "REPLACE", std::string{redis::kStoreLibrary}});
    ASSERT_EQ(loaded, redis::Reply::of_text("holdfast")) << loaded.text;
  }

  /// What the program prints when the shell runs it.
  std::string output_of(const std::string& shell_script) {
    std::FILE* pipe = popen(("bash -c '" + quoted(shell_script) + "' 2>&1").c_str(), "r");
    std::string output;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
      output += static_cast<char>(c);
    }
    EXPECT_EQ(pclose(pipe), 0) << output;
    return output;
  }

  redis::Reply call(const std::string& function, std::vector<std::string> args) {
    std::vector<std::string> words{
        "FCALL", function, "1", redis::store_key(kPrefix, Space::values, "k")};
    words.insert(words.end(), args.begin(), args.end());
    return command(words);
  }

  static Sequencer sequencer(std::uint64_t token, std::string domain = "redis:10.0.0.7") {
    return {.domain = std::move(domain),
            .name = "a lock/with: everything",
            .mode = Mode::exclusive,
            .token = Token{token},
            .owner_fp = "00000000000000aa"};
  }

  /// As the store's own callers open it.
  Errc opened_by_store(const Sequencer& who) {
    return code_of({.key = "k", .operation = OpenResource{.holder = *core::to_holder(who)}});
  }

 private:
  static std::string quoted(const std::string& script) {
    return std::regex_replace(script, std::regex{"'"}, "'\\''");
  }
};

TEST_F(FunctionsTest, TheShellExampleOfTheGuidePrintsWhatTheGuideSays) {
  std::string script = "redis-cli() { command redis-cli -s " + server_.socket() + " \"$@\"; }\n";
  script +=
      replaced(example("sh"), "/usr/local/share/holdfast/holdfast.lua", HOLDFAST_STORE_LIBRARY);
  EXPECT_EQ(without_versions(output_of(script)), without_versions(example("text")));
}

TEST_F(FunctionsTest, ThePythonExampleOfTheGuideWithdrawsOnceAndIsRefusedWhenOvertaken) {
  load();
  const std::string program = server_.socket() + "_example.py";
  std::ofstream{program} << example("python");
  const auto run_as = [&](std::uint64_t token) {
    return output_of("REDIS_URL=unix://" + server_.socket() + " HOLDFAST_SEQUENCER=" +
                     to_string(sequencer(token)) + " " + HOLDFAST_PYTHON + " " + program);
  };
  EXPECT_EQ(run_as(33), "balance 20\n");
  EXPECT_EQ(run_as(34), "balance -60\n");
  EXPECT_EQ(run_as(33), "refused: STALE_TOKEN token 33 is stale: the resource has seen 34\n");
}

TEST_F(FunctionsTest, TheFileIsTheLibrary) {
  EXPECT_EQ(contents(HOLDFAST_STORE_LIBRARY), redis::kStoreLibrary);
}

TEST_F(FunctionsTest, FunctionsAndTheStoreFenceEachOther) {
  load();
  for (const char* domain : {"redis:10.0.0.7",
                             "redis:10.0.0.7?prefix=hf%3A",
                             "redis:h?prefix=a%20b%2525/?prefix=c",
                             "local:/dir with?space"}) {
    SCOPED_TRACE(domain);
    command({"FLUSHDB"});
    ASSERT_EQ(opened_by_store(sequencer(5, domain)), Errc{});
    const auto stale = call("hf_open", {to_string(sequencer(4, domain))});
    EXPECT_EQ(stale.text, "STALE_TOKEN token 4 is stale: the resource has seen 5");
    EXPECT_EQ(call("hf_open", {to_string(sequencer(6, domain))}).items.at(0).text, "opened");
    EXPECT_EQ(opened_by_store(sequencer(5, domain)), Errc::stale_token);
    EXPECT_EQ(opened_by_store(sequencer(6, domain)), Errc{});
  }
}

TEST_F(FunctionsTest, ValuesAreTheSameForBoth) {
  load();
  const auto version = call("hf_put", {"a"}).items.at(1).integer;
  EXPECT_EQ(store().perform(get())->entry->version, Version{static_cast<std::uint64_t>(version)});
  const auto moved = store().perform(put("b"));
  EXPECT_EQ(call("hf_put", {"c", std::to_string(version)}).text.substr(0, 16), "VERSION_CONFLICT");
  EXPECT_EQ(call("hf_get", {}).items.at(5).text, "b");
  EXPECT_EQ(call("hf_erase", {std::to_string(moved->version.value())}).items.at(0).text, "applied");
  EXPECT_EQ(call("hf_erase", {}).items.at(0).text, "unchanged");
  EXPECT_FALSE(stored());
}

TEST_F(FunctionsTest, BadArgumentsAreRefusedByName) {
  load();
  Sequencer permit = sequencer(5);
  permit.mode = Mode::permit;
  const std::string holder = to_string(sequencer(5));
  struct Case {
    std::string function;
    std::vector<std::string> args;
    std::string names;
  };
  for (const Case& bad : {Case{"hf_open", {}, "sequencer"},
                          Case{"hf_open", {"34"}, "sequencer"},
                          Case{"hf_open", {"hf1:exclusive:0:aa:d:n"}, "token"},
                          Case{"hf_open", {"hf1:exclusive:9007199254740992:aa:d:n"}, "token"},
                          Case{"hf_open", {"hf1:other:1:aa:d:n"}, "mode"},
                          Case{"hf_open", {to_string(permit)}, "permit"},
                          Case{"hf_open", {holder, "both"}, "policy"},
                          Case{"hf_write", {holder}, "value"},
                          Case{"hf_write", {holder, "v", "-1"}, "sequence"},
                          Case{"hf_write", {holder, "v", "1e3"}, "sequence"},
                          Case{"hf_write", {holder, "v", "0"}, "sequence"},
                          Case{"hf_put", {}, "value"},
                          Case{"hf_put", {std::string(kValueBytesMax + 1, 'v')}, "value"},
                          Case{"hf_put", {"v", "first"}, "version"},
                          Case{"hf_erase", {"0x10"}, "version"}}) {
    const auto refused = call(bad.function, bad.args);
    EXPECT_EQ(refused.kind, redis::Reply::Kind::error) << bad.function;
    EXPECT_EQ(refused.text.find("INVALID_ARGUMENT"), 0U) << refused.text;
    EXPECT_NE(refused.text.find(bad.names), std::string::npos) << refused.text;
  }
  EXPECT_EQ(command({"DBSIZE"}).integer, 0);
}

}  // namespace
}  // namespace holdfast::redis_store
