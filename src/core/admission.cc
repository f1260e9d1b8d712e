#include "core/admission.h"

namespace holdfast::core {

void Ahead::add(const Claim& claim) {
  switch (claim.mode) {
    case Mode::exclusive:
      ++exclusive_;
      return;
    case Mode::shared:
      ++shared_;
      return;
    case Mode::permit:
      permits_mixed_ = permits_mixed_ || (permit_ > 0 && permits_ != claim.permits);
      permits_ = claim.permits;
      ++permit_;
      return;
  }
}

Admission Ahead::admit(const Claim& claim) const {
  const bool granted_if[] = {
      exclusive_ + shared_ + permit_ == 0,
      exclusive_ + permit_ == 0,
      exclusive_ + shared_ == 0 && permit_ < claim.permits,
  };
  const bool differ = permit_ > 0 && (permits_mixed_ || permits_ != claim.permits);
  if (claim.mode == Mode::permit && differ) return Admission::permits_differ;
  return granted_if[static_cast<std::size_t>(claim.mode)] ? Admission::granted
                                                          : Admission::must_wait;
}

Admission admit(std::span<const Claim> ahead, const Claim& claim) {
  Ahead sum;
  for (const Claim& other : ahead) sum.add(other);
  return sum.admit(claim);
}

}  // namespace holdfast::core
