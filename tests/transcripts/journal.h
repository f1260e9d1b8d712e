// Journal: what a block of commands brought about, one line per event. Nodes that did the same are
// named in one line.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "holdfast/clock.h"

namespace holdfast::transcripts {

class Journal {
 public:
  void add(TimePoint when, std::string words);
  /// The same words at another node, or again at the same one, join the line that is there.
  void add_at_node(TimePoint when, std::size_t node, const std::string& words);

  /// Everything so far, by time, which then is forgotten.
  std::string take();

 private:
  struct Line {
    TimePoint when;
    /// How often at which node. Empty: not about nodes.
    std::map<std::size_t, int> nodes;
    std::string words;
  };
  static std::string to_text(const Line& line);

  std::vector<Line> lines_;
};

}  // namespace holdfast::transcripts
