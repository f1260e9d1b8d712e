#include "engines/redis/driver/redirection.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/decimal.h"
#include "engines/redis/hash_slot.h"

namespace holdfast::redis {
namespace {

struct Word {
  std::string_view text;
  Redirection::Kind kind;
};
constexpr std::array kWords{Word{"MOVED", Redirection::Kind::moved},
                            Word{"ASK", Redirection::Kind::ask},
                            Word{"TRYAGAIN", Redirection::Kind::later},
                            Word{"CLUSTERDOWN", Redirection::Kind::later},
                            Word{"LOADING", Redirection::Kind::later},
                            Word{"MASTERDOWN", Redirection::Kind::later},
                            Word{"READONLY", Redirection::Kind::replaced}};

/// `<slot> <host>:<port>`; an IPv6 address stands without brackets.
std::optional<Redirection> read_target(Redirection::Kind kind, std::string_view text) {
  text = text.substr(0, text.find(' ', text.find(' ') + 1));
  const std::size_t space = text.find(' ');
  const std::size_t colon = text.rfind(':');
  if (space == std::string_view::npos || colon == std::string_view::npos || colon < space) {
    return std::nullopt;
  }
  const auto slot = parse_decimal<std::uint16_t>(text.substr(0, space));
  const auto port = parse_decimal<std::uint16_t>(text.substr(colon + 1));
  if (!slot || *slot >= kSlots || !port || *port == 0) return std::nullopt;
  const std::string_view host = text.substr(space + 1, colon - space - 1);
  return Redirection{.kind = kind, .slot = *slot, .to = {std::string{host}, *port}};
}

}  // namespace

Redirection read_redirection(const Reply& reply) {
  if (reply.kind != Reply::Kind::error) return {};
  const std::string_view text = reply.text;
  const std::size_t space = std::min(text.find(' '), text.size());
  const auto word = std::ranges::find(kWords, text.substr(0, space), &Word::text);
  if (word == kWords.end()) return {};
  if (word->kind != Redirection::Kind::moved && word->kind != Redirection::Kind::ask)
    return {.kind = word->kind};
  return read_target(word->kind, text.substr(std::min(space + 1, text.size())))
      .value_or(Redirection{});
}

}  // namespace holdfast::redis
