#include "sim/redis/redis_answer.h"

namespace holdfast::sim {

using redis::Reply;

Reply reply_of(const Answer& answer) {
  switch (answer.kind) {
    case Answer::Kind::nil:
      return {};
    case Answer::Kind::integer:
      return Reply::of_integer(answer.integer);
    case Answer::Kind::ok:
    case Answer::Kind::text:
      return Reply::of_text(std::string{answer.text});
    case Answer::Kind::error:
      return Reply::of_error(std::string{answer.text});
    case Answer::Kind::array:
      break;
  }
  Reply array = Reply::of_array({});
  for (const std::string& item : answer.items) array.items.push_back(Reply::of_text(item));
  return array;
}

}  // namespace holdfast::sim
