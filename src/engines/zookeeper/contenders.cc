#include "engines/zookeeper/contenders.h"

#include <algorithm>
#include <utility>

#include "base/chacha.h"
#include "base/decimal.h"
#include "base/hex.h"
#include "core/holder_note.h"

namespace holdfast::zookeeper {
namespace {

// Tells our data from those of others; the number is that of the format.
constexpr std::string_view kMagic = "hf1";
constexpr std::string_view kNothing = "-";

std::string_view next_word(std::string_view& text) {
  const std::size_t end = text.find(' ');
  const std::string_view word = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  return word;
}

std::string hex_of(std::string_view bytes) {
  return to_hex({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

bool go_together(const core::Claim& claim, const core::Claim& other) {
  return claim.mode != Mode::exclusive && claim.mode == other.mode;
}

Contender contender_of(const Known& known) {
  Contender contender{};
  contender.owner_fp = owner_fp_of(known.child.contender.id);
  contender.mode = known.child.contender.claim.mode;
  contender.token = Token{static_cast<std::uint64_t>(known.stat.created)};
  contender.foreign = known.entrant.foreign;
  contender.ttl = known.entrant.ttl;
  if (!known.entrant.foreign) core::describe(contender, core::decode_note(known.entrant.note));
  // Another program's session is all that is known of it.
  if (known.entrant.foreign) {
    const auto number = static_cast<std::uint64_t>(known.stat.owner.number);
    contender.owner_fp = std::to_string(number);
  }
  return contender;
}

}  // namespace

std::string to_data(const Entrant& entrant) {
  std::string data{kMagic};
  data += entrant.kind == LeaseKind::detached ? " d " : " s ";
  data += std::to_string(entrant.ttl.count()) + ' ';
  data += entrant.sealed.empty() ? std::string{kNothing} : hex_of(entrant.sealed);
  return data + ' ' + entrant.note;
}

Entrant read_entrant(std::string_view data) {
  const Entrant foreign{.foreign = true};
  if (next_word(data) != kMagic) return foreign;
  const std::string_view kind = next_word(data);
  const auto ttl = parse_decimal<std::int64_t>(next_word(data));
  const std::string_view hex = next_word(data);
  if ((kind != "d" && kind != "s") || !ttl) return foreign;
  Entrant entrant{.kind = kind == "d" ? LeaseKind::detached : LeaseKind::session,
                  .ttl = Millis{*ttl},
                  .note = std::string{data}};
  if (hex == kNothing) return entrant;
  const auto sealed = from_hex(hex);
  if (!sealed) return foreign;
  entrant.sealed.assign(sealed->begin(), sealed->end());
  return entrant;
}

std::string sealed_by(const Owner& owner, std::string_view text) {
  // An owner is a secret that is used for this alone, and its fingerprint says nothing about it.
  ChachaKey key{0x7a6f6f6b, 0x73657373, 0x696f6e20, 0x6b657931};
  for (std::size_t i = 0; i < owner.bytes().size(); ++i) {
    key[4 + i / 4] |= std::uint32_t{owner.bytes()[i]} << 8 * (i % 4);
  }
  const ChachaBlocks blocks = chacha20_blocks(key);
  std::string sealed{text};
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    const std::size_t word = i / 4;
    const std::uint32_t stream = blocks[word % 16][word / 16 % kChachaBlocks];
    sealed[i] = static_cast<char>(static_cast<std::uint8_t>(sealed[i]) ^
                                  static_cast<std::uint8_t>(stream >> 8 * (i % 4)));
  }
  return sealed;
}

Standing stand(const std::vector<Child>& contenders,
               std::string_view own,
               const core::Claim& claim) {
  core::Ahead sum;
  std::vector<std::string> ahead;
  std::string_view blocker;
  for (const Child& child : contenders) {
    if (child.name == own) break;
    sum.add(child.contender.claim);
    ahead.push_back(child.name);
    // The latest that must go in any case: most of the others will have gone before it.
    if (!go_together(claim, child.contender.claim)) blocker = child.name;
  }
  Standing standing{.admission = sum.admit(claim)};
  if (standing.admission != core::Admission::must_wait) return standing;
  if (!blocker.empty()) {
    standing.blockers = {std::string{blocker}};
    standing.departures = 1;
    return standing;
  }
  standing.departures = ahead.size() - std::min<std::size_t>(ahead.size(), claim.permits) + 1;
  standing.blockers = std::move(ahead);
  return standing;
}

Lineup line_up(const LockName& name, std::vector<Known> contenders) {
  Lineup lineup;
  lineup.info.name = name.text();
  if (!contenders.empty()) {
    lineup.info.mode = contenders.front().child.contender.claim.mode;
    lineup.info.permits = contenders.front().child.contender.claim.permits;
  }
  core::Ahead ahead;
  for (Known& known : contenders) {
    const core::Claim& claim = known.child.contender.claim;
    const bool holds = ahead.admit(claim) == core::Admission::granted;
    ahead.add(claim);
    auto& shown = holds ? lineup.info.holders : lineup.info.waiters;
    shown.push_back(contender_of(known));
    // A token is given with the lock.
    if (!holds) shown.back().token = Token{0};
    (holds ? lineup.holders : lineup.waiters).push_back(std::move(known));
  }
  return lineup;
}

}  // namespace holdfast::zookeeper
