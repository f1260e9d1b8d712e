// Arrays as PostgreSQL writes them: {a,"b c",NULL}.

#pragma once

#include <string_view>
#include <vector>

#include "engines/postgres/postgres_port.h"

namespace holdfast::sim {

/// The elements of an array of one dimension. Empty: it has none, or the text is no array.
inline std::vector<postgres::Value> parse_array(std::string_view text) {
  std::vector<postgres::Value> elements;
  if (text.size() <= 2 || text.front() != '{' || text.back() != '}') return elements;
  std::string element;
  bool quoted = false;
  bool inside = false;
  for (std::size_t i = 1; i < text.size(); ++i) {
    const char next = text[i];
    if (inside && next == '\\') {
      element += text[++i];
    } else if (next == '"') {
      inside = !inside;
      quoted = true;
    } else if (!inside && (next == ',' || next == '}')) {
      const bool null = !quoted && element == "NULL";
      elements.push_back(null ? postgres::Value{} : postgres::Value{std::move(element)});
      element.clear();
      quoted = false;
    } else {
      element += next;
    }
  }
  return elements;
}

}  // namespace holdfast::sim
