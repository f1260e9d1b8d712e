#include "tests/transcripts/difference.h"

#include <algorithm>
#include <vector>

namespace holdfast::transcripts {
namespace {

using Lines = std::vector<std::string_view>;

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

/// How many lines the ends of both texts have in common, from each pair of lines on.
std::vector<std::vector<std::size_t>> common_lines(const Lines& one, const Lines& other) {
  std::vector<std::vector<std::size_t>> common(one.size() + 1,
                                               std::vector<std::size_t>(other.size() + 1));
  for (std::size_t i = one.size(); i-- > 0;) {
    for (std::size_t j = other.size(); j-- > 0;) {
      common[i][j] = one[i] == other[j] ? common[i + 1][j + 1] + 1
                                        : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  return common;
}

}  // namespace

std::string difference(std::string_view expected, std::string_view actual) {
  const Lines old_lines = lines_of(expected);
  const Lines new_lines = lines_of(actual);
  const auto common = common_lines(old_lines, new_lines);
  std::string text;
  std::size_t i = 0;
  std::size_t j = 0;
  const auto line = [&](char sign, std::string_view words) {
    text.append(std::to_string(i + 1)).append(1, ' ').append(1, sign).append(words).append("\n");
  };
  while (i < old_lines.size() || j < new_lines.size()) {
    const bool both = i < old_lines.size() && j < new_lines.size();
    if (both && old_lines[i] == new_lines[j]) {
      ++i;
      ++j;
    } else if (j == new_lines.size() ||
               (i < old_lines.size() && common[i + 1][j] >= common[i][j + 1])) {
      line('-', old_lines[i]);
      ++i;
    } else {
      line('+', new_lines[j]);
      ++j;
    }
  }
  return text;
}

}  // namespace holdfast::transcripts
