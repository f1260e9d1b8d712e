#include "sim/checkers/all.h"

#include <iterator>
#include <utility>

#include "sim/checkers/blocks.h"
#include "sim/checkers/exclusion.h"
#include "sim/checkers/fence_order.h"
#include "sim/checkers/fifo.h"
#include "sim/checkers/honesty.h"
#include "sim/checkers/lost_updates.h"
#include "sim/checkers/progress.h"
#include "sim/checkers/replay.h"
#include "sim/checkers/same_token.h"
#include "sim/checkers/sentence.h"
#include "sim/checkers/serial.h"
#include "sim/checkers/token_order.h"
#include "sim/checkers/unique_tokens.h"
#include "sim/checkers/waiters.h"

namespace holdfast::sim {
namespace {

using Checker = Violations (*)(const History&);

constexpr Checker kOfEveryLock[]{check_unique_tokens,
                                 check_token_order,
                                 check_same_token,
                                 check_honesty,
                                 check_serial,
                                 check_replay,
                                 check_fifo,
                                 check_progress,
                                 check_waiters};

void add_all(Violations& all, Violations&& more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

Judgement judge(const History& history, Register kind) {
  Judgement judgement;
  for (const Checker check : kOfEveryLock) add_all(judgement.violations, check(history));
  Exclusion exclusion = check_exclusion(history);
  add_all(judgement.violations, std::move(exclusion.violations));
  judgement.breaches = exclusion.breaches;
  if (kind == Register::unfenced) {
    judgement.lost_updates = count_lost_updates(history);
    if (judgement.lost_updates > 0 && history.faults.empty()) {
      judgement.violations.push_back(
          {"G4", sentence(judgement.lost_updates, " updates were lost, and there was no fault")});
    }
    return judgement;
  }
  for (const Acquisition& grant : history.acquisitions) {
    if (!grant.granted() || grant.token != Token{0}) continue;
    judgement.violations.push_back(
        {"T1", sentence("lock ", grant.lock, ": client ", grant.client, " was given no token")});
  }
  add_all(judgement.violations, check_fence_order(history));
  add_all(judgement.violations, check_blocks(history));
  Violations lost = check_lost_updates(history);
  // Nothing is lost without a violation, so the way back is rarely gone twice.
  if (!lost.empty()) judgement.lost_updates = count_lost_updates(history);
  add_all(judgement.violations, std::move(lost));
  return judgement;
}

}  // namespace holdfast::sim
