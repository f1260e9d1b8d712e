// lab sim: promises are kept in every world, a mutant is found out, and its story can be run again.

#include <gtest/gtest.h>

#include <boost/json/array.hpp>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <sstream>

#include "tests/command/harness.h"

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;
using boost::json::object;

class LabSimTest : public CommandTest {
 protected:
  object sim(const Words& arguments, int expected_code = 0) {
    return run_json(Words{"lab", "sim"} + arguments, expected_code);
  }

  Finished sim_text(const Words& arguments) { return run(Words{"lab", "sim"} + arguments); }
};

Words words_of(std::string_view line) {
  std::istringstream stream{std::string{line}};
  return {std::istream_iterator<std::string>{stream}, {}};
}

const object& first_violation(const object& report) {
  return report.at("violations").as_array().at(0).as_object();
}

/// Whether a report has the same promise broken by the same seed.
bool breaks(const object& report, const object& expected) {
  for (const auto& violation : report.at("violations").as_array()) {
    if (violation.at("checker") == expected.at("checker") &&
        violation.at("seed") == expected.at("seed")) {
      return true;
    }
  }
  return false;
}

TEST_F(LabSimTest, EveryProtocolKeepsItsPromises) {
  for (const char* engine : {"redis",
                             "redis-plain",
                             "redlock",
                             "redlock-plain",
                             "etcd",
                             "etcd-plain",
                             "zookeeper",
                             "zookeeper-plain",
                             "postgres",
                             "postgres-plain"}) {
    const object report = sim({"--engine", engine, "--seeds", "200"});
    EXPECT_EQ(report.at("engine").as_string(), engine);
    EXPECT_EQ(report.at("seeds").to_number<int>(), 200);
    EXPECT_EQ(report.at("first_seed").to_number<int>(), 1);
    EXPECT_GT(report.at("events").to_number<int>(), 200 * 100);
    EXPECT_GT(report.at("grants").to_number<int>(), 200);
    EXPECT_TRUE(report.at("violations").as_array().empty()) << engine;
    EXPECT_EQ(report.at("trace_hash").as_string().size(), 16U);
    EXPECT_FALSE(report.at("faults").as_object().empty());
  }
}

TEST_F(LabSimTest, TheReportHasItsFields) {
  EXPECT_EQ(keys(sim({"--seeds", "3"})),
            (std::set<std::string>{"engine",
                                   "mutant",
                                   "seeds",
                                   "first_seed",
                                   "repeated",
                                   "events",
                                   "grants",
                                   "losses",
                                   "refused_stale",
                                   "writes",
                                   "lost_updates",
                                   "losing_seeds",
                                   "faults",
                                   "breaches",
                                   "failing_seeds",
                                   "violations",
                                   "trace_hash",
                                   "pictures"}));
  const object broken = sim({"--mutant", "grants-everyone", "--seeds", "20"}, 1);
  EXPECT_EQ(keys(first_violation(broken)),
            (std::set<std::string>{"checker", "seed", "what", "faults", "stop_after", "replay"}));
}

TEST_F(LabSimTest, UnfencedProtocolsLoseUpdatesAndFencedOnesDoNot) {
  for (const char* engine :
       {"redis-plain", "redlock-plain", "etcd-plain", "zookeeper-plain", "postgres-plain"}) {
    const object report = sim({"--engine", engine, "--seeds", "300"});
    EXPECT_GT(report.at("lost_updates").to_number<int>(), 0) << engine;
    EXPECT_GT(report.at("losing_seeds").to_number<int>(), 0) << engine;
  }
  const object fenced = sim({"--engine", "redlock", "--seeds", "300"});
  EXPECT_EQ(fenced.at("lost_updates").to_number<int>(), 0);
  EXPECT_GT(fenced.at("refused_stale").to_number<int>(), 0);
}

TEST_F(LabSimTest, TheSameSeedsAreTheSameWorldsOnAnyNumberOfThreads) {
  const object alone = sim({"--seeds", "100", "--jobs", "1"});
  EXPECT_EQ(alone, sim({"--seeds", "100", "--jobs", "2"}));
  EXPECT_NE(alone.at("trace_hash"), sim({"--seeds", "100", "--first-seed", "2"}).at("trace_hash"));
}

TEST_F(LabSimTest, AMutantIsFoundOutAndItsReplayBreaksTheSamePromise) {
  for (const char* mutant : {"grants-everyone", "redlock-one-node", "refuses-everyone"}) {
    const object report = sim({"--mutant", mutant, "--seeds", "50"}, 1);
    EXPECT_EQ(report.at("mutant").as_string(), mutant);
    const object& violation = first_violation(report);
    Words replay = words_of(violation.at("replay").as_string());
    ASSERT_GT(replay.size(), 3U);
    EXPECT_EQ(replay[0], "./holdfast");
    replay.erase(replay.begin());
    const object again = run_json(replay, 1);
    EXPECT_EQ(again.at("seeds").to_number<int>(), 1);
    EXPECT_TRUE(breaks(again, violation)) << mutant;
  }
}

TEST_F(LabSimTest, AReplayWorksFromAnotherDirectory) {
  const object report = sim({"--mutant", "grants-everyone", "--seeds", "20"}, 1);
  const object& violation = first_violation(report);
  // The very line, with the program where the line says it is.
  fs::create_directory(path("elsewhere"));
  fs::create_symlink(HOLDFAST_COMMAND_PATH, path("elsewhere/holdfast"));
  const std::string line = "cd " + path("elsewhere") + " && " +
                           std::string{violation.at("replay").as_string()} + " --json";
  const Finished again = run({"run", "x", "--", "sh", "-c", line});
  EXPECT_EQ(again.code, 1) << again.err;
  EXPECT_TRUE(breaks(parse_object(again.out), violation)) << again.out;
}

TEST_F(LabSimTest, AFailureIsToldToPeople) {
  const Finished finished =
      sim_text({"--mutant", "grants-everyone", "--seeds", "20", "--svg", path("story.svg")});
  EXPECT_EQ(finished.code, 1);
  for (const char* words : {"broken by seed ",
                            "fewest faults",
                            "shortest prefix",
                            "./holdfast lab sim --engine redis --mutant grants-everyone --seed ",
                            " is granted ",
                            "event by event",
                            "The picture: "}) {
    EXPECT_NE(finished.out.find(words), std::string::npos) << words << "\n" << finished.out;
  }
  EXPECT_EQ(finished.out.find('\x1b'), std::string::npos) << "colour is for terminals";
  EXPECT_EQ(finished.err, "") << "a bar is for terminals";
  const std::string svg = read("story.svg");
  EXPECT_NE(svg.find("is broken: "), std::string::npos);
  EXPECT_NE(svg.find("</svg>"), std::string::npos);
}

TEST_F(LabSimTest, AGoodSeedCanBeLookedAtToo) {
  const Finished story = sim_text({"--seed", "7", "--timeline", "--html", path("seven.html")});
  EXPECT_EQ(story.code, 0);
  EXPECT_NE(story.out.find("everything is healed"), std::string::npos);
  EXPECT_EQ(story.out.find(" runs "), std::string::npos);
  EXPECT_NE(read("seven.html").find("Every promise was kept."), std::string::npos);
  const object report = sim({"--seed", "7", "--timeline"});
  EXPECT_FALSE(report.at("timeline").as_array().empty());
  const Finished everything = sim_text({"--seed", "7", "--timeline", "--all"});
  EXPECT_NE(everything.out.find(" runs "), std::string::npos);
}

TEST_F(LabSimTest, AnUnfencedProtocolsReportSaysWhatItLost) {
  const Finished finished = sim_text({"--engine", "redlock-plain", "--seeds", "300"});
  EXPECT_EQ(finished.code, 0);
  EXPECT_NE(finished.out.find(" acknowledged, in "), std::string::npos) << finished.out;
}

TEST_F(LabSimTest, TheListNamesEnginesFaultsAndMutants) {
  const object list = sim({"--list"});
  EXPECT_EQ(list.at("engines").as_array().size(), 10U);
  EXPECT_EQ(list.at("faults").as_array().size(), 18U);
  EXPECT_GE(list.at("mutants").as_array().size(), 15U);
  const std::string text = sim_text({"--list"}).out;
  for (const char* word :
       {"redlock-plain", "postgres-plain", "clock-step", "redlock-phase-1-only"}) {
    EXPECT_NE(text.find(word), std::string::npos) << word;
  }
}

TEST_F(LabSimTest, TimeEndsIt) {
  const object report = sim({"--for", "300ms"});
  EXPECT_GT(report.at("seeds").to_number<int>(), 0);
}

TEST_F(LabSimTest, ASignalEndsItWithWhatThereIs) {
  Running worlds = start(Words{"lab", "sim", "--for", "10m", "--json"});
  // Signals are taken from its first step on, or they end it without a word.
  ASSERT_TRUE(eventually("its threads", [&] {
    const fs::path tasks = "/proc/" + std::to_string(worlds.pid()) + "/task";
    return std::distance(fs::directory_iterator{tasks}, fs::directory_iterator{}) > 2;
  }));
  worlds.signal(SIGINT);
  const Finished finished = worlds.wait();
  EXPECT_EQ(finished.code, 130);
  EXPECT_FALSE(finished.signalled);
  EXPECT_TRUE(parse_object(finished.out).contains("trace_hash"));
}

TEST_F(LabSimTest, APictureThatCannotBeWrittenIsAnError) {
  const Finished finished = sim_text({"--seed", "1", "--svg", path("no/such/folder.svg")});
  EXPECT_EQ(finished.code, 74);
  EXPECT_NE(finished.err.find("folder.svg"), std::string::npos) << finished.err;
}

class LabSimBadInputTest : public BadArgumentsTest {};

TEST_P(LabSimBadInputTest, IsRefused) { refused(); }

INSTANTIATE_TEST_SUITE_P(
    Sim,
    LabSimBadInputTest,
    testing::Values(
        BadArguments{"Engine", {"lab", "sim", "--engine", "paxos"}, 65, "paxos"},
        BadArguments{"EngineBefore", {"--engine", "paxos", "lab", "sim"}, 65, "paxos"},
        BadArguments{"Mutant", {"lab", "sim", "--mutant", "ninja"}, 65, "ninja"},
        BadArguments{"ForeignMutant",
                     {"lab", "sim", "--mutant", "release-any", "--engine", "redlock"},
                     65,
                     "release-any"},
        BadArguments{"Fault", {"lab", "sim", "--faults", "pause,flood"}, 65, "flood"},
        BadArguments{"NoFault", {"lab", "sim", "--faults", "pause,"}, 65, "--faults"},
        BadArguments{"Nodes", {"lab", "sim", "--nodes", "10"}, 65, "--nodes"},
        BadArguments{
            "NodesOfOne", {"lab", "sim", "--engine", "redis", "--nodes", "3"}, 65, "one node"},
        BadArguments{"Clients", {"lab", "sim", "--clients", "0"}, 65, "--clients"},
        BadArguments{"ClientsMany", {"lab", "sim", "--clients", "17"}, 65, "--clients"},
        BadArguments{"Seeds", {"lab", "sim", "--seeds", "0"}, 65, "--seeds"},
        BadArguments{"SeedsWord", {"lab", "sim", "--seeds", "many"}, 65, "many"},
        BadArguments{"SeedHuge", {"lab", "sim", "--seed", "99999999999999999999"}, 65, "--seed"},
        BadArguments{"SeedNegative", {"lab", "sim", "--seed", "-1"}, 65, "--seed"},
        BadArguments{"Events", {"lab", "sim", "--events", "0"}, 65, "--events"},
        BadArguments{"StopAfter", {"lab", "sim", "--stop-after", "0"}, 65, "--stop-after"},
        BadArguments{"Jobs", {"lab", "sim", "--jobs", "1000"}, 65, "--jobs"},
        BadArguments{"For", {"lab", "sim", "--for", "soon"}, 65, "--for"},
        BadArguments{"ForNothing", {"lab", "sim", "--for", "0"}, 65, "--for"},
        BadArguments{"SeedAndSeeds", {"lab", "sim", "--seed", "1", "--seeds", "2"}, 64, "--seed"},
        BadArguments{"Extra", {"lab", "sim", "redlock"}, 64, "redlock"},
        BadArguments{"UnknownOption", {"lab", "sim", "--sed", "1"}, 64, "--sed"}),
    [](const auto& given) { return std::string{given.param.label}; });

}  // namespace
}  // namespace holdfast::test
