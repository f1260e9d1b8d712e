#include "tests/ports/redis_bed.h"

#include <chrono>

namespace holdfast::redis {

void PrintTo(const Reply& reply, std::ostream* out) {
  switch (reply.kind) {
    case Reply::Kind::nil:
      *out << "(nil)";
      return;
    case Reply::Kind::integer:
      *out << reply.integer;
      return;
    case Reply::Kind::text:
      *out << testing::PrintToString(reply.text);
      return;
    case Reply::Kind::error:
      *out << "(error) " << reply.text;
      return;
    case Reply::Kind::array:
      *out << '{';
      for (const Reply& item : reply.items) {
        if (&item != &reply.items.front()) *out << ", ";
        PrintTo(item, out);
      }
      *out << '}';
      return;
  }
}

}  // namespace holdfast::redis

namespace holdfast::ports {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 20s;

}  // namespace

Reply RedisBed::answer(const redis::ScriptCall& call) {
  const Result<Reply> result = run(call);
  if (result) return *result;
  ADD_FAILURE() << "no answer: " << result.error().message;
  return Reply::of_error("no answer");
}

bool RedisPortTest::forgotten(const std::string& key) {
  const TimePoint end = BootClock::now() + kPatience;
  while (BootClock::now() < end) {
    if (command({"EXISTS", key}) == Reply::of_integer(0)) return true;
    bed_->let_time_pass();
  }
  return false;
}

}  // namespace holdfast::ports
