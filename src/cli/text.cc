#include "cli/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace holdfast::cli {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

// The lowest code point a sequence of this length may spell: shorter ones are overlong.
constexpr std::uint32_t kLowest[] = {0, 0, 0x80, 0x800, 0x10000};

struct Sequence {
  std::size_t length;
  std::uint32_t code_point;
  bool well_formed;
};

Sequence sequence_at(std::string_view text) {
  const auto lead = static_cast<std::uint8_t>(text[0]);
  if (lead < 0x80) return {1, lead, true};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 0;
  if (length == 0 || text.size() < length) return {1, 0, false};
  std::uint32_t code_point = lead & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<std::uint8_t>(text[i]);
    if ((byte & 0xc0) != 0x80) return {1, 0, false};
    code_point = code_point << 6 | (byte & 0x3fU);
  }
  const bool surrogate = code_point >= 0xd800 && code_point < 0xe000;
  if (code_point < kLowest[length] || code_point > 0x10ffff || surrogate) return {1, 0, false};
  return {length, code_point, true};
}

bool is_control(std::uint32_t code_point) {
  return code_point < 0x20 || (code_point >= 0x7f && code_point < 0xa0);
}

// Insertions, deletions, replacements and swaps of neighbours that make one of the other.
std::size_t edits(std::string_view from, std::string_view to) {
  std::vector<std::vector<std::size_t>> rows(from.size() + 1,
                                             std::vector<std::size_t>(to.size() + 1));
  for (std::size_t i = 0; i <= from.size(); ++i) rows[i][0] = i;
  std::iota(rows[0].begin(), rows[0].end(), std::size_t{0});
  for (std::size_t i = 1; i <= from.size(); ++i) {
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = rows[i - 1][j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      rows[i][j] = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[from.size()][to.size()];
}

}  // namespace

std::string to_utf8(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const Sequence sequence = sequence_at(text.substr(at));
    out += sequence.well_formed ? text.substr(at, sequence.length) : kReplacement;
    at += sequence.length;
  }
  return out;
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Sequence sequence = sequence_at(text.substr(at));
    if (!sequence.well_formed) return false;
    at += sequence.length;
  }
  return true;
}

std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const Sequence sequence = sequence_at(text.substr(at));
    if (!sequence.well_formed) {
      out += kReplacement;
    } else if (is_control(sequence.code_point)) {
      out += fmt::format("\\x{:02x}", sequence.code_point);
    } else {
      out += text.substr(at, sequence.length);
    }
    at += sequence.length;
  }
  return out;
}

bool is_printable(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Sequence sequence = sequence_at(text.substr(at));
    if (!sequence.well_formed || is_control(sequence.code_point)) return false;
    at += sequence.length;
  }
  return true;
}

std::string nearest(std::string_view typed, std::span<const std::string> candidates) {
  std::string best;
  std::size_t fewest = std::max<std::size_t>(typed.size() / 3, 1) + 1;
  for (const std::string& candidate : candidates) {
    const bool beginning = typed.size() > 1 && candidate.starts_with(typed);
    const std::size_t distance = beginning ? 1 : edits(typed, candidate);
    if (distance < fewest) {
      fewest = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace holdfast::cli
