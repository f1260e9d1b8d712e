#include "holdfast/sequencer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/limits.h"

namespace holdfast {
namespace {

const std::string kText = "hf1:shared:42:be45cb2605bf36be:local%3a0102:reports/daily%3a1";

TEST(SequencerTest, PrintsEveryField) {
  const Sequencer sequencer{.domain = "local:0102",
                            .name = "reports/daily:1",
                            .mode = Mode::shared,
                            .token = Token{42},
                            .owner_fp = "be45cb2605bf36be"};
  EXPECT_EQ(to_string(sequencer), kText);
}

TEST(SequencerTest, ReadsWhatItPrinted) {
  const auto sequencer = parse_sequencer(kText);
  ASSERT_TRUE(sequencer);
  EXPECT_EQ(sequencer->domain, "local:0102");
  EXPECT_EQ(sequencer->name, "reports/daily:1");
  EXPECT_EQ(sequencer->mode, Mode::shared);
  EXPECT_EQ(sequencer->token, Token{42});
  EXPECT_EQ(sequencer->owner_fp, "be45cb2605bf36be");
}

TEST(SequencerTest, RefusesEverythingElse) {
  for (const std::string_view text : {
           "",
           "hf1",
           "hf2:shared:42:be45cb2605bf36be:d:n",
           "hf1:sharing:42:be45cb2605bf36be:d:n",
           "hf1:shared:-1:be45cb2605bf36be:d:n",
           "hf1:shared:042:be45cb2605bf36be:d:n",
           "hf1:shared:9007199254740992:be45cb2605bf36be:d:n",
           "hf1:shared:42:be45:d:n",
           "hf1:shared:42:BE45CB2605BF36BE:d:n",
           "hf1:shared:42:be45cb2605bf36be:d",
           "hf1:shared:42:be45cb2605bf36be:d:",
           "hf1:shared:42:be45cb2605bf36be:d:n:m",
           "hf1:shared:42:be45cb2605bf36be:d:%6e",
           "hf1:shared:42:be45cb2605bf36be:d:%3",
           "hf1:shared:42:be45cb2605bf36be:d:%zz",
           "hf1:shared:42:be45cb2605bf36be:d:%0a",
           " hf1:shared:42:be45cb2605bf36be:d:n",
       }) {
    const auto sequencer = parse_sequencer(text);
    ASSERT_FALSE(sequencer) << text;
    EXPECT_EQ(sequencer.error().code, Errc::invalid_argument);
  }
}

RC_GTEST_PROP(SequencerProperty, AnyDomainAndNameReadBack, (const std::string& domain)) {
  const auto name = *rc::gen::suchThat(rc::gen::string<std::string>(), [](const std::string& text) {
    return core::check_name(text).has_value();
  });
  const Token token{*rc::gen::inRange<std::uint64_t>(0, Token::kMax)};
  const Sequencer sequencer{domain, name, Mode::exclusive, token, "be45cb2605bf36be"};
  const auto back = parse_sequencer(to_string(sequencer));
  RC_ASSERT(back.has_value());
  RC_ASSERT(back->domain == domain);
  RC_ASSERT(back->name == name);
  RC_ASSERT(back->token == token);
}

}  // namespace
}  // namespace holdfast
