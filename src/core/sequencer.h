// Sequencers: the proof of a lease as one string, for third parties to check.

#pragma once

#include <string>
#include <string_view>

#include "holdfast/result.h"
#include "holdfast/token.h"

namespace holdfast::core {

struct Sequencer {
  std::string domain;
  std::string name;
  Mode mode{Mode::exclusive};
  Token token{0};
  std::string owner_fp;
};

/// `hf1:<mode>:<token>:<owner fingerprint>:<domain>:<name>`, domain and name percent-encoded.
std::string to_string(const Sequencer& sequencer);

/// invalid_argument when the text is not a sequencer.
Result<Sequencer> parse_sequencer(std::string_view text);

}  // namespace holdfast::core
