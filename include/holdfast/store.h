// A Store keeps values and refuses those who may no longer change them.
//
//     auto store = client->store();
//     auto ledger = store->open("ledger", *lease);      // before the first read
//     auto balance = ledger->read();
//     ledger->write(withdraw(*balance, 80));            // stale_token: somebody took over
//
// Three ways to be safe: fenced by the token of a lock (open), by compare-and-swap without any lock
// (get, put, update), and by idempotency keys (once).
//
// Blocking here; holdfast/async_store.h has the same for Asio's completion tokens and coroutines.
//
// Thread safety: every member may be called from any thread. A Resource does one operation at a
// time: a second thread waits, a second asynchronous operation is busy.
// Lifetime: cheap to copy; copies share one core. After fork() the child must connect anew: calls
// answer Errc::shutting_down.
// Limits: keys are 1 to 512 bytes of UTF-8 without control characters, values at most 1 MiB (less
// where the engine says so); anything else is invalid_argument and nothing is touched.
// Failures of every call: unavailable (the engine, or somebody kept the store locked for too long),
// no_space, io_error, denied, corrupt; after these nothing was changed. unknown_outcome: it may or
// may not have been done; repeat the same call on a Resource to settle it, and get() a key to see:
// a put with if_version that was done conflicts with itself, and an update would be made twice.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "holdfast/lease.h"
#include "holdfast/result.h"
#include "holdfast/sequencer.h"
#include "holdfast/store_types.h"

namespace holdfast {

/// Implemented by engines; not for use by programs.
class Backend;
class StoreBackend;

/// A resource opened with the token of a lease. Every operation carries that token, and is refused
/// with stale_token once a newer one has been seen.
class [[nodiscard]] Resource {
 public:
  ~Resource();
  Resource(Resource&&) noexcept;
  Resource& operator=(Resource&&) noexcept;

  /// What is stored, or nothing. stale_token: a newer exclusive holder has opened the resource.
  Result<std::optional<Entry>, StoreError> read();

  /// Replaces the value. stale_token: a newer holder, of any mode, has opened the resource; stop.
  /// invalid_argument: a shared lease, or a value that is too long.
  Result<WriteReceipt, StoreError> write(std::string_view value);

  /// Removes the value. The resource keeps its marks, so that old holders stay locked out.
  Result<WriteReceipt, StoreError> erase();

  const std::string& name() const;
  Token token() const;
  /// Of the last operation done under this token; 0: none.
  std::uint64_t sequence() const;

  using ReadCallback = std::function<void(Result<std::optional<Entry>, StoreError>)>;
  using WriteCallback = std::function<void(Result<WriteReceipt, StoreError>)>;

  // As above, without blocking. The callback runs once, on a thread of the engine's or before this
  // returns; it must not block. busy: another operation is in flight.
  void async_read(ReadCallback callback);
  void async_write(std::string_view value, WriteCallback callback);
  void async_erase(WriteCallback callback);

  struct State;
  explicit Resource(std::shared_ptr<State> state);

 private:
  std::shared_ptr<State> state_;
};

class Store {
 public:
  /// Opens the store of an engine by its URL, as Client::connect does for locks. The lock may be at
  /// another engine than the store.
  static Result<Store> connect(std::string_view url);

  Store(std::shared_ptr<StoreBackend> store, std::shared_ptr<Backend> locks)
      : store_{std::move(store)}, locks_{std::move(locks)} {}

  /// Registers the lease's token at the resource: from here on older holders are refused. Do it
  /// before the first read; without it a late write of the old holder lands between your read and
  /// your write, and is lost. Repeating it changes nothing.
  ///
  /// stale_token: a newer holder was here first, or the token is another owner's. wrong_domain: the
  /// resource belongs to another lock. invalid_argument: a permit (those are not fenced), or
  /// another policy than the resource's.
  Result<Resource, StoreError> open(std::string_view resource,
                                    const Lease& lease,
                                    const OpenOptions& options = {});
  Result<Resource, StoreError> open(std::string_view resource,
                                    const Sequencer& holder,
                                    const OpenOptions& options = {});

  /// Registers the token as open() does, and says whether it is still good, for a resource that
  /// lives elsewhere. Call it *as the resource, inside its own write lock*: the fence row locked
  /// until commit, compare and rename under one file lock. Checking first and writing later
  /// protects nothing. Errors as open().
  Result<void, StoreError> check(std::string_view resource, const Sequencer& holder);

  /// What a key has, or nothing. Protects nothing by itself: see put's if_version, and open().
  Result<std::optional<Entry>, StoreError> get(std::string_view key);

  /// version_conflict: the key is not at options.if_version; StoreError::actual says where it is.
  /// wrong_domain: the key is a resource fenced by a lock; write it with that lock's token.
  Result<Version, StoreError> put(std::string_view key,
                                  std::string_view value,
                                  const PutOptions& options = {});

  /// False when there was nothing to erase. Errors as put().
  Result<bool, StoreError> erase(std::string_view key, const EraseOptions& options = {});

  /// The new value for what was read (nullptr: there is nothing); nothing: leave the key alone.
  using Compute = std::function<std::optional<std::string>(const Entry*)>;

  /// Reads, computes, and puts what came out if nobody came in between; otherwise again, after a
  /// random pause that grows. The function may run many times: it must have no other effect.
  ///
  /// too_many_conflicts: every attempt was in vain. cancelled: `stop` was requested.
  Result<UpdateReport, StoreError> update(std::string_view key,
                                          const Compute& compute,
                                          const UpdateOptions& options = {},
                                          std::stop_token stop = {});

  /// What a runner is given: its lease, whose token fences everything it does.
  using Runner = std::function<OnceResult(const Lease&)>;

  /// Runs the function for a key once: the first caller runs it, and its result is stored; callers
  /// meanwhile wait for it, later ones get it. A runner that dies is taken over when its lease has
  /// ended, and cannot store its result any more. There is one stored result, always; the effect of
  /// the function may repeat after a crash, unless it is itself fenced by the lease's token.
  /// The runner holds the lock `once:<key>`; keys have at most 507 bytes.
  ///
  /// in_progress: another caller is still running it after options.wait. cancelled: `stop` was
  /// requested. lost: the runner lost its lease, and whoever took over has not finished either.
  Result<OnceReport, StoreError> once(std::string_view key,
                                      const Runner& run,
                                      const OnceOptions& options = {},
                                      std::stop_token stop = {});

  /// The stored result of once(), or nothing. Never waits.
  Result<std::optional<OnceResult>, StoreError> once_result(std::string_view key);

  /// For administrators: makes the resource belong to the lock `lock` of the engine with identity
  /// `domain` (Client::domain()) and forgets its marks. Only when nobody uses it: a token of the
  /// old lock that is still about is refused from then on. `why` goes to the engine's audit record.
  /// not_found: there is no such resource.
  Result<void, StoreError> rebase(std::string_view resource,
                                  std::string_view domain,
                                  std::string_view lock,
                                  std::string_view why);

  using OpenCallback = std::function<void(Result<Resource, StoreError>)>;
  using GetCallback = std::function<void(Result<std::optional<Entry>, StoreError>)>;
  using PutCallback = std::function<void(Result<Version, StoreError>)>;
  using EraseCallback = std::function<void(Result<bool, StoreError>)>;
  using CheckCallback = std::function<void(Result<void, StoreError>)>;

  // As above, without blocking. The callback runs once, on a thread of the engine's or before this
  // returns; it must not block.
  void async_open(std::string_view resource,
                  const Sequencer& holder,
                  const OpenOptions& options,
                  OpenCallback callback);
  void async_check(std::string_view resource, const Sequencer& holder, CheckCallback callback);
  void async_get(std::string_view key, GetCallback callback);
  void async_put(std::string_view key,
                 std::string_view value,
                 const PutOptions& options,
                 PutCallback callback);
  void async_erase(std::string_view key, const EraseOptions& options, EraseCallback callback);

  const std::shared_ptr<StoreBackend>& backend() const { return store_; }
  const std::shared_ptr<Backend>& locks() const { return locks_; }

 private:
  std::shared_ptr<StoreBackend> store_;
  std::shared_ptr<Backend> locks_;
};

}  // namespace holdfast
