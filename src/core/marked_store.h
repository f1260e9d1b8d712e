// MarkedStore: a store that keeps a mark with each key (store_mark.h) and changes it with the
// value.
//
// What to do is decided on what is known of a key (store_step.h), and done under the condition
// that this is still what is there: a change is made of exactly that state or not at all, and
// whoever comes too late looks and decides anew. A mark that is known from before saves looking.
//
// A request that was not answered is settled by what the mark remembers of the last ones: its
// effect comes once. What cannot be settled is unknown_outcome.
//
// Thread safety and lifetime: as TaskStore.

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/backoff.h"
#include "core/store_step.h"
#include "core/task_store.h"

namespace holdfast::core {

/// For how long an engine keeps what is left of an erased key, at least: longer than any request is
/// repeated.
inline constexpr Duration kStoreMemory = std::chrono::minutes{10};

class MarkedStore : public TaskStore {
 public:
  struct Conduct {
    /// How long an operation takes at most. More than 5 minutes count as that.
    Millis timeout{5000};
    /// How a request is repeated.
    BackoffPolicy retry{};
    /// Who this is, for the record of what administrators do.
    std::string who{};
  };

  /// `port`: as TaskStore's.
  MarkedStore(Env& env, std::shared_ptr<void> port, Conduct conduct);

 protected:
  /// One request on its way.
  struct Course {
    const StoreRequest& request;
    StoreTicket ticket;
    TimePoint answer_by;
    StoreSight sight{};

    /// A change that may have been made, or may be made yet: of this mark, and the first of its
    /// kind.
    struct Doubt {
      std::string of_mark;
      Version since{0};
      /// Why its answer did not come.
      std::string cause{};
    };
    std::optional<Doubt> doubt{};
    std::uint32_t failures{0};
  };

  struct Attempt {
    enum class Outcome : std::uint8_t {
      /// The change was made.
      made,
      /// Nothing was changed; `sight` is what is there.
      seen,
    };
    Outcome outcome{Outcome::seen};
    StoreSight sight{};
  };

 private:
  /// What is known of the key without asking: of depth `mark`, or nothing.
  virtual StoreSight recall(const StoreRequest& request) = 0;

  /// What is known may be wrong.
  virtual void forget(const StoreRequest& request) = 0;

  /// Makes the change if `course.sight` is still what is there, and otherwise looks. Without a
  /// change it looks. unknown_outcome: the change may have been made or may be made yet.
  virtual Task<Result<Attempt>> attempt(const Course& course,
                                        const StoreChange* change,
                                        TimePoint answer_by) = 0;

  Task<StoreResult> settle(const StoreRequest& request) final;

  /// Empty: it goes on.
  std::optional<StoreResult> take(Course& course,
                                  const std::optional<StoreStep>& step,
                                  Result<Attempt> answer);

  Conduct conduct_;
};

/// Of a key under which there is something that is no mark.
Error not_a_mark(const std::string& key);

}  // namespace holdfast::core
