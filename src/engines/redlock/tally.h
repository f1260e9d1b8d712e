// The tally of one attempt: which nodes have granted the lock, and what token follows. Pure.
//
// Phase 1 takes the lock on every node; each node that grants it says what its counter has come to.
// Once a majority has granted, the token is the highest of these, and is never changed: a node
// that granted it exactly has confirmed it already, others of the majority are asked to. The
// attempt has the lock when a majority has confirmed one token. Two attempts that do share a node,
// and there the later one's grant is above the earlier one's token: tokens are unique and rise.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engines/redlock/node_set.h"
#include "holdfast/token.h"

namespace holdfast::redlock {

class Tally {
 public:
  explicit Tally(std::size_t nodes) : votes_(nodes) {}

  // What nodes answered in phase 1. Each node answers once.
  void granted(std::size_t node, Token grant);
  /// It holds the lock for somebody else, or did not answer.
  void refused(std::size_t node);

  // What nodes answered in phase 2.
  void confirmed(std::size_t node);
  void not_confirmed(std::size_t node);

  enum class Stage : std::uint8_t {
    /// Phase 1 may still come to a majority.
    taking,
    /// The token is chosen; some nodes are to confirm it.
    confirming,
    /// A majority has confirmed the token.
    held,
    /// No majority can come about any more.
    failed,
  };
  Stage stage() const;

  /// How many nodes have answered in phase 1, and which have not.
  std::size_t answered() const { return votes_.size() - count(Vote::none); }
  std::vector<std::size_t> silent() const;

  /// Chosen when a majority has granted.
  std::optional<Token> token() const { return token_; }

  /// Nodes that are to be asked in phase 2 and have not been asked: each is given once.
  std::vector<std::size_t> take_laggards();

 private:
  enum class Vote : std::uint8_t { none, granted, asked, confirmed, refused };
  struct Node {
    Vote vote{Vote::none};
    Token grant{0};
  };

  std::size_t count(Vote vote) const;
  void choose();

  std::vector<Node> votes_;
  std::optional<Token> token_;
};

}  // namespace holdfast::redlock
