// Holdings: the advisory locks that this process holds, the notes on them that others read, and
// what becomes of them when a session ends.
//
// A note is written once a lock is held for more than a moment: most are not, and a write would
// cost them more than the lock.
//
// Thread safety: as Env. Lifetime: the Env outlives it; tasks under way keep it alive.

#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/lease_engine.h"
#include "engines/postgres/advisory/lines.h"

namespace holdfast::postgres::advisory {

/// A lock of ours.
struct Held {
  enum class Note : std::uint8_t { none, written };

  LineUse use;
  holdfast::Mode mode{holdfast::Mode::exclusive};
  /// With its prefix.
  std::string full_name{};
  std::string owner_fp{};
  std::string note_text{};
  Token token{0};
  Note note{Note::none};

  /// One row: whether it was held.
  Call unlock() const;
  /// Gives it up without waiting for an answer.
  void leave() const;
  /// Takes the note back, if there is one.
  void forget() const;
};

class Holdings : public std::enable_shared_from_this<Holdings> {
 public:
  Holdings(Env& env, std::shared_ptr<PostgresPort> port);

  void tell(std::weak_ptr<core::LeaseNews> news) { news_ = std::move(news); }

  void add(const Owner& owner, Held held);
  /// Null: the owner holds nothing (any more). Valid until the next call.
  Held* find(const Owner& owner);
  std::optional<Held> take(const Owner& owner);

  /// Its locks are lost. The holders are told why as soon as the server has said so.
  void hear_of_end(const std::shared_ptr<Line>& line);

 private:
  void write_notes();
  static Task<void> write_notes_in_time(std::weak_ptr<Holdings> weak, Env& env);
  static Task<void> tell_of_end(std::shared_ptr<Holdings> self, std::shared_ptr<Line> line);
  Task<LossReason> explain_end(std::shared_ptr<Line> line);

  Env& env_;
  std::shared_ptr<PostgresPort> port_;
  std::weak_ptr<core::LeaseNews> news_;
  std::map<Owner, Held> held_;
  /// Without a note yet, the oldest first.
  struct Fresh {
    Owner owner;
    TimePoint since;
  };
  std::deque<Fresh> fresh_;
  bool noting_{false};
};

}  // namespace holdfast::postgres::advisory
