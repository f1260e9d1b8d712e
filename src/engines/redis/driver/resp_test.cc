// What is written and read over the wire, byte by byte.

#include <gtest/gtest.h>

#include "engines/redis/driver/resp_reader.h"
#include "engines/redis/driver/resp_writer.h"

namespace holdfast::redis {
namespace {

using namespace std::string_literals;

constexpr Script kScript{"script", "return 1"};

TEST(RespWriterTest, CommandsAreArraysOfWords) {
  std::string out;
  append_command(out, {"SET", "k", std::string_view{"\0\r\n", 3}});
  EXPECT_EQ(out, "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$3\r\n\0\r\n\r\n"s);
}

TEST(RespWriterTest, ScriptsGoByTheirHash) {
  const ScriptCall call{.script = &kScript, .keys = {"a", "b"}, .args = {""}};
  ScriptBook book;
  const std::string expected =
      "*6\r\n$7\r\nEVALSHA\r\n$40\r\ne0e1f9fabfc9d4800c877a703b823ac0578ff8db\r\n"
      "$1\r\n2\r\n$1\r\na\r\n$1\r\nb\r\n$0\r\n\r\n";
  for (int i = 0; i < 2; ++i) {
    std::string out;
    book.append_evalsha(out, call);
    EXPECT_EQ(out, expected);
  }
}

TEST(RespWriterTest, ScriptsGoByTheirTextWhenTheHashIsNotKnown) {
  std::string out;
  append_eval(out, {.script = &kScript, .keys = {}, .args = {"x"}});
  EXPECT_EQ(out, "*4\r\n$4\r\nEVAL\r\n$8\r\nreturn 1\r\n$1\r\n0\r\n$1\r\nx\r\n");
}

struct Wire {
  std::string bytes;
  Reply reply;
};

std::vector<Wire> wires() {
  Reply mixed = Reply::of_array({Reply::of_integer(-5),
                                 Reply{},
                                 Reply::of_array({Reply::of_text("x"), Reply::of_array({})}),
                                 Reply::of_error("ERR no")});
  return {{":42\r\n", Reply::of_integer(42)},
          {"+OK\r\n", Reply::of_text("OK")},
          {"-WRONGTYPE x\r\n", Reply::of_error("WRONGTYPE x")},
          {"$-1\r\n", Reply{}},
          {"*-1\r\n", Reply{}},
          {"$0\r\n\r\n", Reply::of_text("")},
          {std::string{"$4\r\n\0\r\n:\r\n", 10}, Reply::of_text({"\0\r\n:", 4})},
          {"*0\r\n", Reply::of_array({})},
          {"*4\r\n:-5\r\n$-1\r\n*2\r\n+x\r\n*0\r\n-ERR no\r\n", mixed}};
}

TEST(RespReaderTest, RepliesAreReadWhereverTheBytesAreCut) {
  for (const Wire& wire : wires()) {
    for (std::size_t cut = 0; cut < wire.bytes.size(); ++cut) {
      RespReader reader;
      reader.feed(std::string_view{wire.bytes}.substr(0, cut));
      EXPECT_FALSE(reader.next().value());
      reader.feed(std::string_view{wire.bytes}.substr(cut));
      EXPECT_EQ(reader.next().value(), wire.reply) << wire.bytes;
      EXPECT_FALSE(reader.next().value());
    }
  }
}

TEST(RespReaderTest, RepliesThatCameTogetherComeOneByOne) {
  RespReader reader;
  std::string all;
  for (int i = 0; i < 100; ++i) {
    for (const Wire& wire : wires()) all += wire.bytes;
  }
  reader.feed(all);
  for (int i = 0; i < 100; ++i) {
    for (const Wire& wire : wires()) EXPECT_EQ(reader.next().value(), wire.reply);
  }
  EXPECT_FALSE(reader.next().value());
}

TEST(RespReaderTest, SevenLevelsAreReadAndMoreAreRefused) {
  std::string nested;
  for (int i = 0; i < 7; ++i) nested += "*1\r\n";
  RespReader reader;
  reader.feed(nested + "+x\r\n");
  EXPECT_TRUE(reader.next().value());
  reader.feed("*1\r\n*1\r\n" + nested);
  EXPECT_EQ(reader.next().error(), "sent a reply nested more than 7 deep");
}

// What a server announces takes no memory before it comes.
TEST(RespReaderTest, AnnouncedSizesAreNotBelieved) {
  for (const char* announced : {"*2147483647\r\n", "$2147483647\r\n"}) {
    RespReader reader;
    reader.feed(announced);
    EXPECT_FALSE(reader.next().value());
  }
}

}  // namespace
}  // namespace holdfast::redis
