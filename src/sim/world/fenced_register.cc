#include "sim/world/fenced_register.h"

#include <string>
#include <utility>

namespace holdfast::sim {

Verdict FencedRegister::judge(Cell& cell, const RegisterRequest& request) {
  if (request.token == Token{0}) return Verdict::accepted;
  const core::Holder holder{
      .domain = "sim", .token = request.token, .owner_fp = std::to_string(request.holder)};
  const auto keep = [&cell](auto decision) {
    if (!decision) return Verdict::refused;
    cell.fence = *std::move(decision);
    return Verdict::accepted;
  };
  switch (request.verb) {
    case Verb::open:
      return keep(core::decide_open(cell.fence, holder, {}));
    case Verb::read:
      return keep(core::decide_read(cell.fence, holder, request.opened));
    case Verb::write:
      break;
  }
  auto decision = core::decide_write(cell.fence,
                                     holder,
                                     {.opened = request.opened,
                                      .sequence = request.sequence,
                                      .leaves_the_same = cell.value == request.value});
  if (!decision) return Verdict::refused;
  cell.fence = std::move(decision->fence);
  return Verdict::accepted;
}

RegisterAnswer FencedRegister::serve(const RegisterRequest& request, TimePoint now) {
  Cell& cell = cells_.at(request.lock);
  const Verdict verdict = judge(cell, request);
  if (verdict == Verdict::accepted && request.verb == Verb::write) cell.value = request.value;
  const std::uint64_t value = request.verb == Verb::write ? request.value : cell.value;
  log_.push_back({.at = now,
                  .lock = request.lock,
                  .operation = request.operation,
                  .verb = request.verb,
                  .token = request.token,
                  .sequence = request.sequence,
                  .verdict = verdict,
                  .value = value,
                  .based_on = request.based_on});
  return {verdict, value};
}

}  // namespace holdfast::sim
