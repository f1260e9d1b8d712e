// The marks of a fenced file, locked: the file `<file>.fence` with two slots that take turns, so
// that a torn write of one leaves the other.
//
// Thread safety: one thread at a time. The lock belongs to this object, not to the process: threads
// wait for each other as processes do, and the kernel drops it with the process.

#pragma once

#include "client/fence_record.h"
#include "client/file_io.h"
#include "client/file_location.h"
#include "holdfast/clock.h"

namespace holdfast::files {

class FenceMark {
 public:
  /// Makes the file if there is none. unavailable: somebody else has it locked until `give_up`.
  /// corrupt: the file is not ours, or neither slot is whole.
  static Result<FenceMark, StoreError> lock(const Location& where, TimePoint give_up);

  ~FenceMark();
  FenceMark(FenceMark&&) noexcept = default;
  FenceMark& operator=(FenceMark&&) = delete;

  const FenceRecord& record() const { return slot_.record; }

  /// The record is on the disk when this returns. After an error it may be, or the one before.
  Status keep(const FenceRecord& record);

 private:
  FenceMark(const Location& where, Fd file) : where_{where}, file_{std::move(file)} {}
  Status load();
  /// Before the first record, so that one never stands in a file whose name may vanish.
  Status prepare();

  Location where_;
  Fd file_;
  /// Generation 0: nothing has been kept yet.
  Slot slot_{};
};

}  // namespace holdfast::files
