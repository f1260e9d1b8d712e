#include "core/holder_note.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>

namespace holdfast::core {
namespace {

bool is_plain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view{"-._~%/"}.find(c) != std::string_view::npos;
}

TEST(HolderNoteTest, IsOneLineOfPlainText) {
  const HolderNote note{.host = "node-1.example",
                        .pid = 42,
                        .label = "nightly: a/b",
                        .trace_id = "%\n",
                        .since_ms = 1'700'000'000'000};
  EXPECT_EQ(encode_note(note), "node-1.example/42/nightly%3a%20a%2fb/%25%0a/1700000000000");
}

TEST(HolderNoteTest, TellsOfThisProcess) {
  const HolderNote note = make_note("label", "trace");
  EXPECT_FALSE(note.host.empty());
  EXPECT_EQ(note.pid, getpid());
  EXPECT_GT(note.since_ms, 1'600'000'000'000);
  Contender contender;
  describe(contender, note);
  EXPECT_EQ(contender.host, note.host);
  EXPECT_EQ(contender.pid, note.pid);
  EXPECT_EQ(contender.label, "label");
  EXPECT_EQ(contender.trace_id, "trace");
  EXPECT_EQ(contender.since_ms, note.since_ms);
}

TEST(HolderNoteTest, WhatCannotBeReadIsLeftEmpty) {
  EXPECT_EQ(decode_note(""), HolderNote{});
  EXPECT_EQ(decode_note("host"), HolderNote{.host = "host"});
  EXPECT_EQ(decode_note("host/x/%zz/%4/-"), HolderNote{.host = "host"});
  EXPECT_EQ(decode_note("h/1/l/t/2/more/%"),
            (HolderNote{.host = "h", .pid = 1, .label = "l", .trace_id = "t", .since_ms = 2}));
}

RC_GTEST_PROP(HolderNoteTest,
              ComesBackAsItWas,
              (std::string host,
               std::int64_t pid,
               std::string label,
               std::string trace_id,
               std::int64_t since_ms)) {
  const HolderNote note{host, pid, label, trace_id, since_ms};
  const std::string text = encode_note(note);
  RC_ASSERT(std::ranges::all_of(text, is_plain));
  RC_ASSERT(decode_note(text) == note);
}

RC_GTEST_PROP(HolderNoteTest, AnythingIsReadSomehow, (const std::string& text)) {
  const HolderNote note = decode_note(text);
  RC_ASSERT(decode_note(encode_note(note)) == note);
}

}  // namespace
}  // namespace holdfast::core
