#include "client/file_replacement.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdio>

namespace holdfast::files {
namespace {

constexpr std::chrono::seconds kPatience{30};

Result<Content, StoreError> content_of(const Location& where) {
  auto file = open_content(where);
  if (!file) return Unexpected{std::move(file).error()};
  if (!*file) return Content{};
  const auto bytes = read_all(*file, where.path);
  if (!bytes) return Unexpected{bytes.error()};
  return Content{digest_of(*bytes)};
}

Status remove_if_there(const std::string& path) {
  if (unlink(path.c_str()) == 0 || errno == ENOENT) return {};
  return Unexpected{os_error("remove", path, errno)};
}

/// Whether an operation that somebody began was done is read off the file: it is replaced in one
/// step, and nobody else changes it.
Status settle(FenceMark& mark, const Location& where) {
  const auto& pending = mark.record().pending;
  if (!pending) return {};
  if (auto removed = remove_if_there(where.temporary(pending->temporary)); !removed) return removed;
  const auto content = content_of(where);
  if (!content) return Unexpected{content.error()};
  if (*content != pending->after.content) return mark.keep({.standing = mark.record().standing});
  // Who renamed it may have been killed before this.
  if (auto synced = sync_directory(where.directory); !synced) return synced;
  return mark.keep({.standing = pending->after});
}

Status write_temporary(const Location& where, const std::string& path, std::string_view bytes) {
  const auto old = look_at(where.path);
  if (!old) return Unexpected{old.error()};
  // Nobody else reads it before it has the access of the file it replaces.
  const mode_t mode = *old ? S_IRUSR | S_IWUSR : 0666;
  const Fd file = open_fd(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  if (!file) return Unexpected{os_error("create", path, errno)};
  if (*old) {
    if (auto kept = keep_access(file, **old, (*old)->st_mode & 07777, path); !kept) return kept;
  }
  if (auto written = write_all(file, bytes, path); !written) return written;
  return sync(file, path);
}

/// The step that makes an operation done: what comes before can be undone, what follows cannot.
Status take_effect(const Location& where,
                   const std::string& temporary,
                   std::optional<std::string_view> bytes) {
  if (!bytes) return remove_if_there(where.path);
  if (auto written = write_temporary(where, temporary, *bytes); !written) return written;
  if (rename(temporary.c_str(), where.path.c_str()) == 0) return {};
  return Unexpected{os_error("replace", where.path, errno)};
}

StoreError unknown(const StoreError& cause) {
  return {Errc::unknown_outcome,
          cause.message + "; the operation may or may not have been done",
          "repeat it with the same sequence number to settle it"};
}

}  // namespace

Result<Fd, StoreError> open_content(const Location& where) {
  Fd file = open_fd(where.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file && errno != ENOENT) return Unexpected{os_error("open", where.path, errno)};
  return file;
}

Result<FenceMark, StoreError> lock_settled(const Location& where) {
  auto mark = FenceMark::lock(where, BootClock::now() + kPatience);
  if (!mark) return mark;
  if (auto settled = settle(*mark, where); !settled) return Unexpected{std::move(settled).error()};
  return mark;
}

Status replace(FenceMark& mark,
               const Location& where,
               const Standing& after,
               std::optional<std::string_view> bytes) {
  // Before anything is changed: a directory that cannot be opened cannot be synced either.
  const Fd directory = open_fd(where.directory, O_RDONLY | O_DIRECTORY);
  if (!directory) return Unexpected{os_error("open", where.directory, errno)};
  const Pending pending{.after = after, .temporary = random_bits()};
  const FenceRecord begun{.standing = mark.record().standing, .pending = pending};
  if (auto kept = mark.keep(begun); !kept) return kept;
  if (auto done = take_effect(where, where.temporary(pending.temporary), bytes); !done) {
    if (auto settled = settle(mark, where); !settled) return Unexpected{unknown(done.error())};
    // A file system may report an error for a step that it did.
    if (mark.record().standing == after) return {};
    return done;
  }
  if (auto synced = sync(directory, where.directory); !synced) {
    return Unexpected{unknown(synced.error())};
  }
  if (auto kept = mark.keep({.standing = after}); !kept) return Unexpected{unknown(kept.error())};
  return {};
}

}  // namespace holdfast::files
