// A FencedFile is a file that refuses stale holders.
//
//     auto file = FencedFile::open("ledger.json", *lease);   // before the first read
//     file->write(withdraw(*file->read(), 80));              // stale_token: somebody took over
//
// A write replaces the whole file in one step (temporary file, fsync, rename, fsync of the
// directory), and only if the token is current. Compare and rename happen under one file lock. A
// reader that knows nothing of Holdfast sees the old content or the new one, never a part. All
// *writers* must go through FencedFile: what writes the file directly is not refused.
//
// The marks are kept beside the file, in `<file>.fence`. Leave it there, also when the file is
// erased: removing it lets old holders in. A process that is killed at any point leaves the file
// whole; whoever comes next finds out whether the last operation was done, and repeating it with
// its sequence number answers duplicate or does it.
//
// Symbolic links are followed once, when the file is opened: the target is written and the link
// stays. Hard links are broken by a write. Mode is kept, owner and group as far as permitted;
// access control lists and extended attributes are not. Content is any bytes, of any length that
// fits into memory. On a network file system the fence is as good as that system's file locks.
//
// Thread safety: any thread; an operation waits for the one before it.
// Lifetime: keeps nothing open and nothing locked between operations. After fork() the child must
// open anew: calls answer Errc::shutting_down.
// Failures of every call: denied, no_space, io_error, not_found (no such directory), corrupt (the
// marks are damaged or not ours), unavailable (somebody kept the file locked for 30 seconds);
// after these nothing was changed, and the old content can be read with any program.
// unknown_outcome: it may or may not have been done; repeat the same call to settle it.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "holdfast/lease.h"
#include "holdfast/result.h"
#include "holdfast/sequencer.h"
#include "holdfast/store_types.h"

namespace holdfast {

class [[nodiscard]] FencedFile {
 public:
  /// Registers the lease's token at the file: from here on older holders are refused. Do it before
  /// the first read. The file need not exist, its directory must. Repeating it changes nothing.
  ///
  /// stale_token: a newer holder was here first, or the token is another owner's. wrong_domain: the
  /// file belongs to another lock. invalid_argument: a permit (those are not fenced), another
  /// policy than the file's, or a path that is a directory, a device or another file's marks.
  static Result<FencedFile, StoreError> open(std::string path,
                                             const Lease& lease,
                                             const OpenOptions& options = {});
  static Result<FencedFile, StoreError> open(std::string path,
                                             const Sequencer& holder,
                                             const OpenOptions& options = {});

  /// A handle that registers its token with its first operation instead: for a program that does
  /// one operation and ends. Touches nothing. invalid_argument as open().
  static Result<FencedFile, StoreError> unopened(std::string path, const Sequencer& holder);

  ~FencedFile();
  FencedFile(FencedFile&&) noexcept;
  FencedFile& operator=(FencedFile&&) noexcept;

  /// The content, or nothing when there is no file. stale_token: a newer exclusive holder has
  /// opened the file.
  Result<std::optional<std::string>, StoreError> read();

  /// Replaces the content. stale_token: a newer holder, of any mode, has opened the file; stop.
  /// invalid_argument: a shared lease. The receipt's version counts the operations ever done on
  /// the file.
  Result<WriteReceipt, StoreError> write(std::string_view content);

  /// Removes the file; done as well when there is none. The marks stay, so that old holders are
  /// still refused.
  Result<WriteReceipt, StoreError> erase();

  /// The same as operation number `sequence` of this token, so that a repetition can be told from
  /// a new operation even by another process: repeating the last one exactly answers
  /// Applied::duplicate and changes nothing. stale_token: older than the last one.
  /// invalid_argument: zero, or the number of another operation.
  Result<WriteReceipt, StoreError> write_at(std::uint64_t sequence, std::string_view content);
  Result<WriteReceipt, StoreError> erase_at(std::uint64_t sequence);

  /// Absolute, symbolic links followed.
  const std::string& path() const;
  Token token() const;
  /// Of the last operation done under this token, as far as this handle knows; 0: none.
  std::uint64_t sequence() const;

 private:
  struct State;
  explicit FencedFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace holdfast
