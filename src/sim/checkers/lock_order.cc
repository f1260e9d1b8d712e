#include "sim/checkers/lock_order.h"

#include <algorithm>

namespace holdfast::sim {

void order_by_lock(std::vector<Keyed>& items) {
  if (!std::is_sorted(items.begin(), items.end())) std::sort(items.begin(), items.end());
}

}  // namespace holdfast::sim
