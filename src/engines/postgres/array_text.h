// Arrays as PostgreSQL reads them.

#pragma once

#include <string>
#include <vector>

#include "engines/postgres/postgres_port.h"

namespace holdfast::postgres {

/// `{"a","b",NULL}`: good for an array of any type whose elements are written as text.
inline Value array_text(const std::vector<Value>& elements) {
  std::string text = "{";
  for (const Value& element : elements) {
    if (text.size() > 1) text += ',';
    if (!element) {
      text += "NULL";
      continue;
    }
    text += '"';
    for (const char c : *element) {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    text += '"';
  }
  return text + '}';
}

}  // namespace holdfast::postgres
