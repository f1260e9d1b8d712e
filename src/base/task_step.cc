#include "base/task_step.h"

#include <utility>

namespace holdfast {

// From the moment the task waits it may be gone or run elsewhere, so its pointer to this turn is
// left as it is: whoever runs it next sets it before anything looks.
#ifndef __clang__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdangling-pointer"
#endif
void TaskStep::operator()() {
  Root& root = *std::exchange(root_, nullptr);
  if (!at_) return unwind(root);
  TaskTurn turn{at_};
  root.turn = &turn;
  while (turn.next) std::exchange(turn.next, nullptr).resume();
}
#ifndef __clang__
#pragma GCC diagnostic pop
#endif

}  // namespace holdfast
