// Sequencers: the proof of a lease, for resources and third parties to check.

#pragma once

#include <string>
#include <string_view>

#include "holdfast/result.h"
#include "holdfast/token.h"

namespace holdfast {

/// Who acts: the lock (engine identity and name), how it is held, its token, and its owner's
/// fingerprint. Gives no right to renew or release. Lease::sequencer() prints one.
struct Sequencer {
  /// The engine's identity, as Client::domain() says it.
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

}  // namespace holdfast
