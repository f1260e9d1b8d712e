// Time as part of an experiment; never to wait for something.

#pragma once

#include <poll.h>

#include "holdfast/clock.h"

namespace holdfast::campaigns {

inline void let_pass(Millis time) {
  poll(nullptr, 0, static_cast<int>(time.count() < 0 ? 0 : time.count()));
}

}  // namespace holdfast::campaigns
