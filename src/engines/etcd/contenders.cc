#include "engines/etcd/contenders.h"

#include <algorithm>
#include <optional>
#include <ranges>
#include <utility>

#include "base/decimal.h"
#include "core/holder_note.h"

namespace holdfast::etcd {
namespace {

// Tells our values from those of others; the number is that of the format.
constexpr std::string_view kMagic = "hf1";

std::string claim_text(const core::Claim& claim) {
  switch (claim.mode) {
    case Mode::exclusive:
      return "x";
    case Mode::shared:
      return "s";
    case Mode::permit:
      break;
  }
  return 'p' + std::to_string(claim.permits);
}

std::optional<core::Claim> read_claim(std::string_view text) {
  if (text == "x") return core::Claim{};
  if (text == "s") return core::Claim{.mode = Mode::shared};
  if (!text.starts_with('p')) return std::nullopt;
  const auto permits = parse_decimal<std::uint32_t>(text.substr(1));
  if (!permits || *permits == 0) return std::nullopt;
  return core::Claim{.mode = Mode::permit, .permits = *permits};
}

std::string_view next_word(std::string_view& text) {
  const std::size_t end = text.find(' ');
  const std::string_view word = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  return word;
}

bool go_together(const core::Claim& claim, const core::Claim& other) {
  return claim.mode != Mode::exclusive && claim.mode == other.mode;
}

Contender contender_of(const KeyValue& entry, const Entrant& entrant, const Keys& keys) {
  Contender contender{};
  if (const auto key = keys.read(entry.key)) contender.owner_fp = key->owner_fp;
  contender.mode = entrant.claim.mode;
  contender.token = Token{static_cast<std::uint64_t>(entry.created)};
  contender.foreign = entrant.foreign;
  if (!entrant.foreign) core::describe(contender, core::decode_note(entrant.note));
  // Another program's lease is all that is known of it.
  if (contender.owner_fp.empty() && entry.lease != LeaseId{}) {
    contender.owner_fp = hex_of(entry.lease);
  }
  return contender;
}

}  // namespace

std::string to_value(const Entrant& entrant) {
  std::string value{kMagic};
  value += ' ' + claim_text(entrant.claim);
  value += entrant.kind == LeaseKind::detached ? " d " : " s ";
  return value + entrant.note;
}

Entrant read_entrant(std::string_view value) {
  const Entrant foreign{.foreign = true};
  if (next_word(value) != kMagic) return foreign;
  const auto claim = read_claim(next_word(value));
  const std::string_view kind = next_word(value);
  if (!claim || (kind != "d" && kind != "s")) return foreign;
  return {.claim = *claim,
          .kind = kind == "d" ? LeaseKind::detached : LeaseKind::session,
          .note = std::string{value}};
}

Standing stand(const std::vector<KeyValue>& ahead, const core::Claim& claim) {
  core::Ahead sum;
  const KeyValue* blocker = nullptr;
  for (const KeyValue& entry : ahead) {
    const core::Claim other = read_entrant(entry.value).claim;
    sum.add(other);
    // The latest that must go in any case: most of the others will have gone before it.
    const bool later = blocker == nullptr || blocker->created < entry.created;
    if (!go_together(claim, other) && later) blocker = &entry;
  }
  Standing standing{.admission = sum.admit(claim)};
  if (standing.admission != core::Admission::must_wait) return standing;
  if (blocker != nullptr) {
    standing.blockers = {blocker->key};
    standing.departures = 1;
    return standing;
  }
  for (const KeyValue& entry : ahead) standing.blockers.push_back(entry.key);
  standing.departures = ahead.size() - std::min<std::size_t>(ahead.size(), claim.permits) + 1;
  return standing;
}

Lineup line_up(const LockName& name, const std::vector<KeyValue>& contenders, const Keys& keys) {
  Lineup lineup;
  lineup.info.name = name.text();
  core::Ahead ahead;
  for (const KeyValue& entry : contenders) {
    const Entrant entrant = read_entrant(entry.value);
    if (&entry == &contenders.front()) {
      lineup.info.mode = entrant.claim.mode;
      lineup.info.permits = entrant.claim.permits;
    }
    const bool holds = ahead.admit(entrant.claim) == core::Admission::granted;
    ahead.add(entrant.claim);
    (holds ? lineup.holders : lineup.waiters).push_back(entry);
    auto& shown = holds ? lineup.info.holders : lineup.info.waiters;
    shown.push_back(contender_of(entry, entrant, keys));
    // A token is given with the lock.
    if (!holds) shown.back().token = Token{0};
  }
  return lineup;
}

}  // namespace holdfast::etcd
