// lab: the demonstrations end as they must, say so, and leave only their picture behind.

#include <gtest/gtest.h>

#include <boost/json/array.hpp>
#include <csignal>
#include <filesystem>
#include <regex>

#include "tests/command/harness.h"

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;
using boost::json::object;

class LabTest : public CommandTest {
 protected:
  LabTest() { fs::create_directory(path("tmp")); }

  Launch lab(const Words& arguments) const {
    return {.arguments = Words{"lab"} + arguments, .environment = {{"TMPDIR", path("tmp")}}};
  }

  object lab_json(const Words& arguments) {
    const Finished finished = run(lab(arguments + Words{"--json"}));
    EXPECT_EQ(finished.code, 0) << finished.out << finished.err;
    EXPECT_EQ(finished.err, "");
    return parse_object(finished.out);
  }

  bool nothing_left_behind() const { return fs::is_empty(path("tmp")); }

  /// No script, no file, no network: the one address is the name of the SVG format.
  void expect_self_contained(const std::string& text) {
    ASSERT_FALSE(text.empty());
    static const std::regex outside{
        "https?://(?!www\\.w3\\.org/2000/svg\")|<script|<link|<img|@import|src="};
    EXPECT_FALSE(std::regex_search(text, outside));
    EXPECT_NE(text.find("<svg "), std::string::npos);
    EXPECT_NE(text.find("</svg>"), std::string::npos);
  }
};

const object& named(const object& report, const char* list, const char* key, const char* name) {
  for (const auto& item : report.at(list).as_array()) {
    if (item.at(key).as_string() == name) return item.as_object();
  }
  ADD_FAILURE() << "no " << name;
  static const object nothing;
  return nothing;
}

const object* refusal(const object& story) {
  for (const auto& event : story.at("events").as_array()) {
    if (event.at("event").as_string() == "refused") return &event.as_object();
  }
  return nullptr;
}

TEST_F(LabTest, PauseLosesWithoutACheckAndNothingWithOpenBeforeRead) {
  const object report = lab_json({"pause", "--html", path("pause.html"), "--svg", path("p.svg")});
  EXPECT_TRUE(report.at("as_expected").as_bool());
  EXPECT_TRUE(report.at("differences").as_array().empty());
  EXPECT_EQ(named(report, "verdicts", "variant", "no_check").at("lost").to_number<int>(), 2);
  EXPECT_EQ(named(report, "verdicts", "variant", "fenced_writes").at("lost").to_number<int>(), 1);
  const object& open = named(report, "verdicts", "variant", "open_before_read");
  EXPECT_EQ(open.at("lost").to_number<int>(), 0);
  EXPECT_EQ(open.at("refused").to_number<int>(), 2);
  EXPECT_TRUE(open.at("ok").as_bool());
  expect_self_contained(read("pause.html"));
  expect_self_contained(read("p.svg"));
  EXPECT_TRUE(nothing_left_behind());
}

TEST_F(LabTest, PauseTellsWhoBelievedWhatAndNamesBothTokens) {
  const object report = lab_json({"pause", "--no-picture"});
  EXPECT_TRUE(report.at("pictures").as_array().empty());
  ASSERT_EQ(report.at("stories").as_array().size(), 6U);
  for (const auto& item : report.at("stories").as_array()) {
    const object& story = item.as_object();
    const auto& believed = story.at("believed").as_array();
    ASSERT_EQ(believed.size(), 2U);
    EXPECT_GT(believed[0].at("to_ms").as_double(), believed[1].at("from_ms").as_double())
        << "A still believes when B is granted the lock";
    EXPECT_EQ(story.at("paused").as_array().size(), 1U);
    const object* refused = refusal(story);
    EXPECT_EQ(refused == nullptr, story.at("lost").to_number<int>() > 0);
    if (refused == nullptr) continue;
    EXPECT_EQ(refused->at("process").as_string(), "A");
    EXPECT_LT(refused->at("token").as_int64(), refused->at("highest").as_int64());
  }
}

TEST_F(LabTest, PauseTellsPeople) {
  const Finished finished = run(lab({"pause", "--html", path("pause.html")}));
  EXPECT_EQ(finished.code, 0);
  for (const char* words : {"believed it held the lock from",
                            "1 update lost",
                            "nothing lost",
                            "is stopped (SIGSTOP)",
                            "refused, its token ",
                            "The picture: "}) {
    EXPECT_NE(finished.out.find(words), std::string::npos) << words;
  }
  EXPECT_EQ(finished.out.find('\x1b'), std::string::npos) << "colour is for terminals";
}

TEST_F(LabTest, NaiveLosesAndHoldfastDoesNot) {
  const object report = lab_json({"naive", "--html", path("naive.html"), "--rounds", "60"});
  EXPECT_EQ(report.at("processes").to_number<int>(), 4);
  const object& naive = named(report, "runs", "lock", "check_then_set");
  const object& fenced = named(report, "runs", "lock", "holdfast");
  EXPECT_GT(naive.at("lost").to_number<int>(), 0);
  EXPECT_EQ(naive.at("attempted").to_number<int>() - naive.at("final").to_number<int>(),
            naive.at("lost").to_number<int>());
  EXPECT_EQ(fenced.at("lost").to_number<int>(), 0);
  EXPECT_GE(fenced.at("attempted").to_number<int>(), 240);
  EXPECT_EQ(fenced.at("attempted").to_number<int>(), fenced.at("final").to_number<int>());
  expect_self_contained(read("naive.html"));
  EXPECT_TRUE(nothing_left_behind());
}

TEST_F(LabTest, TheBankPaysTwiceUntilItChecks) {
  const object report = lab_json({"bank", "--html", path("bank.html")});
  for (const char* variant : {"unlocked", "locked"}) {
    const object& take = named(report, "variants", "variant", variant);
    EXPECT_EQ(take.at("paid_out").to_number<int>(), 160) << variant;
    EXPECT_EQ(take.at("created").to_number<int>(), 80) << variant;
    EXPECT_FALSE(take.at("balances").as_bool()) << variant;
  }
  for (const char* variant : {"fenced", "compare_and_swap"}) {
    const object& take = named(report, "variants", "variant", variant);
    EXPECT_EQ(take.at("paid").as_array().size(), 1U) << variant;
    EXPECT_EQ(take.at("balance").to_number<int>(), 20) << variant;
    EXPECT_TRUE(take.at("balances").as_bool()) << variant;
  }
  const object* refused = refusal(named(report, "variants", "variant", "fenced"));
  ASSERT_NE(refused, nullptr);
  EXPECT_LT(refused->at("token").as_int64(), refused->at("highest").as_int64());
  expect_self_contained(read("bank.html"));
  EXPECT_TRUE(nothing_left_behind());
}

TEST_F(LabTest, KeepLeavesTheDirectoryAndSaysWhere) {
  const object report = lab_json({"naive", "--no-picture", "--keep", "--rounds", "5"});
  EXPECT_TRUE(fs::exists(std::string{report.at("directory").as_string()} + "/store.db"));
  EXPECT_FALSE(nothing_left_behind());
}

TEST_F(LabTest, APictureThatCannotBeWrittenIsAnError) {
  const Finished finished = run(lab({"naive", "--html", path("no/such/folder.html")}));
  EXPECT_EQ(finished.code, 74);
  EXPECT_NE(finished.err.find("folder.html"), std::string::npos) << finished.err;
  EXPECT_TRUE(nothing_left_behind());
}

TEST_F(LabTest, ASignalEndsItAndLeavesNothing) {
  Running story = start(lab({"pause", "--no-picture", "--ttl", "1m"}));
  ASSERT_TRUE(eventually("the demonstration's engine", [&] {
    for (const auto& entry : fs::directory_iterator{path("tmp")}) {
      if (fs::exists(entry.path() / "store.db")) return true;
    }
    return false;
  }));
  story.signal(SIGINT);
  EXPECT_EQ(story.wait().code, 130);
  EXPECT_TRUE(nothing_left_behind());
}

TEST_F(LabTest, QuorumComputesWhatItSays) {
  const object report =
      lab_json({"quorum", "--nodes", "1,3-5", "--availability", "99,99.9", "--svg", path("q.svg")});
  const auto& majorities = report.at("majorities").as_array();
  ASSERT_EQ(majorities.size(), 8U);
  const object& three = majorities[2].as_object();
  EXPECT_EQ(three.at("nodes").to_number<int>(), 3);
  EXPECT_EQ(three.at("majority").to_number<int>(), 2);
  EXPECT_EQ(three.at("spare").to_number<int>(), 1);
  EXPECT_EQ(three.at("availability_percent").to_number<double>(), 99);
  EXPECT_NEAR(three.at("failure").to_number<double>(), 2.98e-4, 1e-9);
  EXPECT_NEAR(three.at("nines").to_number<double>(), 3.5, 0.1);
  EXPECT_NEAR(three.at("down_s_a_year").to_number<double>(), 9404, 1);
  EXPECT_EQ(report.at("pictures").as_array().size(), 1U);
  expect_self_contained(read("q.svg"));
}

TEST_F(LabTest, QuorumTellsPeopleWhatItMeansAndAssumes) {
  const Finished finished = run(lab({"quorum", "--html", path("q.html")}));
  EXPECT_EQ(finished.code, 0);
  for (const char* words : {"3.0e-04",
                            "each up 99.99 %",
                            "nines.",
                            "fail independently",
                            "An even number bears no more failures",
                            "The picture: "}) {
    EXPECT_NE(finished.out.find(words), std::string::npos) << words << "\n" << finished.out;
  }
  EXPECT_EQ(finished.out.find('\x1b'), std::string::npos) << "colour is for terminals";
  expect_self_contained(read("q.html"));
}

TEST_F(LabTest, HelpListsTheDemonstrations) {
  const Finished finished = run({"lab", "--help"});
  EXPECT_EQ(finished.code, 0);
  for (const char* name : {"pause", "naive", "bank", "sim", "quorum"}) {
    EXPECT_NE(finished.out.find("\n  " + std::string{name} + " "), std::string::npos) << name;
    EXPECT_NE(finished.out.find("holdfast lab " + std::string{name}), std::string::npos) << name;
    EXPECT_NE(run({"lab", name, "--help"}).out.find("Examples:"), std::string::npos) << name;
  }
}

TEST_F(LabTest, WhatIsNotUnderstoodIsAUsageError) {
  EXPECT_EQ(run({"lab"}).code, 64);
  EXPECT_EQ(run({"lab", "nonsense"}).code, 64);
  EXPECT_EQ(run({"lab", "pause", "extra"}).code, 64);
  EXPECT_EQ(run({"lab", "pause", "--frob"}).code, 64);
  EXPECT_EQ(run({"lab", "naive", "--rounds", "0"}).code, 64);
  EXPECT_EQ(run({"lab", "naive", "--processes", "1"}).code, 64);
  EXPECT_EQ(run({"lab", "quorum", "extra"}).code, 64);
  EXPECT_EQ(run({"lab", "quorum", "--nodes", "0"}).code, 65);
  EXPECT_EQ(run({"lab", "quorum", "--availability", "100"}).code, 65);
  EXPECT_EQ(run({"lab", "pause", "--ttl", "1ms"}).code, 65);
  EXPECT_EQ(run({"lab", "pause", "--ttl", "soon"}).code, 65);
}

}  // namespace
}  // namespace holdfast::test
