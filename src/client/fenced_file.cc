#include "holdfast/fenced_file.h"

#include <mutex>
#include <utility>

#include "base/fork.h"
#include "client/file_replacement.h"

namespace holdfast {
namespace {

Unexpected<StoreError> refused(StoreError error, const files::Location& where) {
  if (error.code == Errc::wrong_domain) {
    error.remedy_text = "use that lock; or, when nobody holds either lock, move " + where.fence() +
                        " away and acquire yours anew";
  }
  return Unexpected{std::move(error)};
}

}  // namespace

struct FencedFile::State {
  State(files::Location where_in, core::Holder holder_in)
      : where{std::move(where_in)}, holder{std::move(holder_in)} {}

  Result<files::FenceMark, StoreError> enter() const;
  Result<void, StoreError> open(const OpenOptions& options);
  Result<std::optional<std::string>, StoreError> read();
  Result<WriteReceipt, StoreError> change(std::optional<std::uint64_t> number,
                                          std::optional<std::string_view> bytes);
  /// From here on the file must know us.
  void remember(const core::Fence& fence);

  const files::Location where;
  const core::Holder holder;
  const std::uint32_t born{fork_generation()};
  mutable std::mutex mutex;
  core::Opened opened{core::Opened::not_yet};
  /// Of the last operation known to be done; empty: ask the file.
  std::optional<std::uint64_t> sequence{};
};

Result<files::FenceMark, StoreError> FencedFile::State::enter() const {
  if (fork_generation() != born) {
    return Unexpected{StoreError{Errc::shutting_down,
                                 where.path + " was opened before this process was forked",
                                 "open the file anew"}};
  }
  return files::lock_settled(where);
}

void FencedFile::State::remember(const core::Fence& fence) {
  opened = core::Opened::before;
  sequence = holder.mode == Mode::exclusive ? fence.sequence : 0;
}

Result<void, StoreError> FencedFile::State::open(const OpenOptions& options) {
  auto mark = enter();
  if (!mark) return Unexpected{std::move(mark).error()};
  files::Standing standing = mark->record().standing;
  auto fence = core::decide_open(standing.fence, holder, options);
  if (!fence) return refused(std::move(fence).error(), where);
  if (standing.fence != *fence) {
    standing.fence = *fence;
    if (auto kept = mark->keep({.standing = standing}); !kept) return kept;
  }
  remember(*fence);
  return {};
}

Result<std::optional<std::string>, StoreError> FencedFile::State::read() {
  const std::lock_guard guard{mutex};
  files::Fd file;
  {
    auto mark = enter();
    if (!mark) return Unexpected{std::move(mark).error()};
    files::Standing standing = mark->record().standing;
    auto fence = core::decide_read(standing.fence, holder, opened);
    if (!fence) return refused(std::move(fence).error(), where);
    auto found = files::open_content(where);
    if (!found) return Unexpected{std::move(found).error()};
    if (standing.fence != *fence) {
      standing.fence = *fence;
      if (auto kept = mark->keep({.standing = standing}); !kept) {
        return Unexpected{std::move(kept).error()};
      }
    }
    remember(*fence);
    file = *std::move(found);
  }
  // The open file is never changed, only replaced: nobody need wait while it is read.
  if (!file) return std::optional<std::string>{};
  auto bytes = files::read_all(file, where.path);
  if (!bytes) return Unexpected{std::move(bytes).error()};
  return std::optional{*std::move(bytes)};
}

Result<WriteReceipt, StoreError> FencedFile::State::change(std::optional<std::uint64_t> number,
                                                           std::optional<std::string_view> bytes) {
  const std::lock_guard guard{mutex};
  if (!number && sequence) number = *sequence + 1;
  const files::Content content = bytes ? files::Content{files::digest_of(*bytes)} : std::nullopt;
  auto mark = enter();
  if (!mark) return Unexpected{std::move(mark).error()};
  const files::Standing before = mark->record().standing;
  auto decision = core::decide_write(
      before.fence,
      holder,
      {.opened = opened, .sequence = number, .leaves_the_same = before.content == content});
  if (!decision) return refused(std::move(decision).error(), where);
  WriteReceipt receipt{.applied = decision->applied,
                       .version = Version{before.version},
                       .token = holder.token,
                       .sequence = decision->fence.sequence};
  if (decision->applied == Applied::applied) {
    receipt.version = Version{before.version + 1};
    const files::Standing after{
        .fence = decision->fence, .content = content, .version = receipt.version.value()};
    if (auto done = files::replace(*mark, where, after, bytes); !done) {
      // So that the same call again is the same operation again.
      if (done.error().code == Errc::unknown_outcome) sequence = receipt.sequence - 1;
      return Unexpected{std::move(done).error()};
    }
  }
  remember(decision->fence);
  return receipt;
}

FencedFile::FencedFile(std::unique_ptr<State> state) : state_{std::move(state)} {}
FencedFile::~FencedFile() = default;
FencedFile::FencedFile(FencedFile&&) noexcept = default;
FencedFile& FencedFile::operator=(FencedFile&&) noexcept = default;

Result<FencedFile, StoreError> FencedFile::unopened(std::string path, const Sequencer& holder) {
  auto known = core::to_holder(holder);
  if (!known) return Unexpected{std::move(known).error()};
  auto where = files::locate(path);
  if (!where) return Unexpected{std::move(where).error()};
  return FencedFile{std::make_unique<State>(*std::move(where), *std::move(known))};
}

Result<FencedFile, StoreError> FencedFile::open(std::string path,
                                                const Sequencer& holder,
                                                const OpenOptions& options) {
  auto file = unopened(std::move(path), holder);
  if (!file) return file;
  if (auto open = file->state_->open(options); !open) return Unexpected{std::move(open).error()};
  return file;
}

Result<FencedFile, StoreError> FencedFile::open(std::string path,
                                                const Lease& lease,
                                                const OpenOptions& options) {
  const auto holder = parse_sequencer(lease.sequencer());
  if (!holder) return Unexpected{StoreError{holder.error()}};
  return open(std::move(path), *holder, options);
}

Result<std::optional<std::string>, StoreError> FencedFile::read() { return state_->read(); }

Result<WriteReceipt, StoreError> FencedFile::write(std::string_view content) {
  return state_->change(std::nullopt, content);
}

Result<WriteReceipt, StoreError> FencedFile::erase() {
  return state_->change(std::nullopt, std::nullopt);
}

Result<WriteReceipt, StoreError> FencedFile::write_at(std::uint64_t sequence,
                                                      std::string_view content) {
  return state_->change(sequence, content);
}

Result<WriteReceipt, StoreError> FencedFile::erase_at(std::uint64_t sequence) {
  return state_->change(sequence, std::nullopt);
}

const std::string& FencedFile::path() const { return state_->where.path; }
Token FencedFile::token() const { return state_->holder.token; }

std::uint64_t FencedFile::sequence() const {
  const std::lock_guard guard{state_->mutex};
  return state_->sequence.value_or(0);
}

}  // namespace holdfast
