#include "engines/zookeeper/doctor/ensemble_facts.h"

#include <algorithm>
#include <cstdlib>

namespace holdfast::zookeeper {

ServerWords ServerWords::read(std::string_view text) {
  ServerWords words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t parted = line.find_first_of("=\t");
    if (parted == std::string_view::npos || parted == 0) continue;
    words.values_.insert_or_assign(std::string{line.substr(0, parted)},
                                   std::string{line.substr(parted + 1)});
  }
  return words;
}

std::string ServerWords::text(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::string{} : found->second;
}

std::optional<double> ServerWords::number(const std::string& name) const {
  const std::string value = text(name);
  char* end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  if (value.empty() || end != value.c_str() + value.size()) return std::nullopt;
  return number;
}

std::size_t ServerWords::voters() const {
  return static_cast<std::size_t>(std::ranges::count_if(values_, [](const auto& entry) {
    return entry.first.starts_with("server.") &&
           entry.second.find(":observer") == std::string::npos;
  }));
}

}  // namespace holdfast::zookeeper
