#include "engines/local/local_store.h"

#include <utility>

#include "base/fork.h"
#include "base/wall_clock.h"
#include "engines/local/audit.h"

namespace holdfast::local {
namespace {

const std::optional<core::Fence>& fence_of(const std::optional<Row>& row) {
  static const std::optional<core::Fence> kNone;
  return row ? row->fence : kNone;
}

/// Without a value, and with a fence that is swept sooner or later.
bool is_to_be_swept(const std::optional<Row>& row) { return row && row->expires_ms && !row->value; }

StoreReply to_reply(const std::optional<Row>& row, std::uint64_t sequence) {
  StoreReply reply{.sequence = sequence};
  if (!row) return reply;
  reply.version = row->version;
  if (!row->value) return reply;
  reply.entry = Entry{.value = *row->value, .version = row->version};
  if (row->fence && row->fence->written != Token{0}) {
    reply.entry->token = row->fence->written;
    reply.entry->sequence = row->fence->written_sequence;
  }
  return reply;
}

Unexpected<StoreError> fenced(const core::Fence& fence) {
  return Unexpected{StoreError{Errc::wrong_domain,
                               "the key is fenced by the lock " + fence.domain,
                               "take that lock and write with its token"}};
}

Unexpected<StoreError> conflict(Version expected, const std::optional<Row>& row) {
  const Version actual = row && row->value ? row->version : Version::absent();
  StoreError error{Errc::version_conflict,
                   "the key is at version " + std::to_string(actual.value()) + ", not at " +
                       std::to_string(expected.value())};
  error.actual = actual;
  return Unexpected{std::move(error)};
}

/// A read that names a sequence must not be older than what was done under its token.
Result<void, StoreError> check_sequence(const ReadResource& read, const core::Fence& fence) {
  if (!read.sequence || !fence.exclusive.is(read.holder)) return {};
  if (*read.sequence >= fence.sequence) return {};
  StoreError error{Errc::stale_token,
                   "sequence " + std::to_string(*read.sequence) + " is older than " +
                       std::to_string(fence.sequence)};
  error.yours = read.holder.token;
  error.highest = fence.exclusive.token;
  return Unexpected{std::move(error)};
}

}  // namespace

Result<std::shared_ptr<StoreBackend>> LocalStore::open(const std::string& directory,
                                                       const StoreSettings& settings) {
  const auto lock = OpenStores::instance().enter();
  auto writer = StoreFile::open(directory, settings);
  if (!writer) return Unexpected{Error{std::move(writer).error()}};
  auto reader = StoreFile::open(directory, settings);
  if (!reader) return Unexpected{Error{std::move(reader).error()}};
  auto store = std::make_shared<LocalStore>(directory, std::move(*writer), std::move(*reader));
  OpenStores::instance().add(*store);
  return std::shared_ptr<StoreBackend>{std::move(store)};
}

LocalStore::LocalStore(std::string directory,
                       std::unique_ptr<StoreFile> writer,
                       std::unique_ptr<StoreFile> reader)
    : directory_{std::move(directory)},
      generation_{fork_generation()},
      writer_{std::move(writer)},
      reader_{std::move(reader)} {}

LocalStore::~LocalStore() {
  if (forked()) dispatcher_->abandon();
  // Before the stores are entered: what was posted may open one itself.
  dispatcher_.reset();
  const auto lock = OpenStores::instance().enter();
  OpenStores::instance().remove(*this);
  writer_.reset();
  reader_.reset();
}

bool LocalStore::forked() const { return fork_generation() != generation_; }

void LocalStore::rest() {
  writing_.lock();
  reading_.lock();
}

void LocalStore::resume() {
  reading_.unlock();
  writing_.unlock();
}

void LocalStore::let_go() {
  for (auto* file : {&writer_, &reader_}) {
    (*file)->database().close_quietly();
    file->reset();
  }
}

StoreResult LocalStore::perform(const StoreRequest& request) {
  if (forked()) {
    return Unexpected{StoreError{Errc::shutting_down, "the process has forked since it connected"}};
  }
  const Key key{request.space, request.key};
  return std::visit([&](const auto& operation) { return act(key, operation); }, request.operation);
}

void LocalStore::async_perform(StoreRequest request, StoreCallback callback) {
  // There is no thread to run it on; and perform() only refuses.
  if (forked()) return callback(perform(request));
  dispatcher_->post([this, request = std::move(request), callback = std::move(callback)] {
    callback(perform(request));
  });
}

Result<std::optional<Row>, StoreError> LocalStore::peek(const Key& key) {
  const std::lock_guard lock{reading_};
  if (auto begun = reader_->database().begin_operation(); !begun) {
    return Unexpected{std::move(begun).error()};
  }
  return reader_->load(key.space, key.key);
}

StoreResult LocalStore::act(const Key& key, const OpenResource& open) {
  const std::lock_guard lock{writing_};
  auto transaction = StoreFile::Transaction::begin(*writer_);
  if (!transaction) return Unexpected{std::move(transaction).error()};
  const auto row = writer_->load(key.space, key.key);
  if (!row) return Unexpected{row.error()};
  const auto fence = core::decide_open(fence_of(*row), open.holder, open.options);
  if (!fence) return Unexpected{fence.error()};
  if (fence_of(*row) == *fence) return StoreReply{.sequence = fence->sequence};
  if (auto saved = writer_->save_fence(key.space, key.key, *fence); !saved) {
    return Unexpected{std::move(saved).error()};
  }
  if (auto done = transaction->commit(); !done) return Unexpected{std::move(done).error()};
  return StoreReply{.sequence = fence->sequence};
}

StoreResult LocalStore::act(const Key& key, const ReadResource& read) {
  const auto row = peek(key);
  if (!row) return Unexpected{row.error()};
  const auto fence = core::decide_read(fence_of(*row), read.holder, read.opened);
  if (!fence) return Unexpected{fence.error()};
  if (fence_of(*row) != *fence || is_to_be_swept(*row)) return register_reader(key, read);
  if (auto good = check_sequence(read, *fence); !good) return Unexpected{std::move(good).error()};
  return to_reply(*row, fence->sequence);
}

StoreResult LocalStore::register_reader(const Key& key, const ReadResource& read) {
  const std::lock_guard lock{writing_};
  auto transaction = StoreFile::Transaction::begin(*writer_);
  if (!transaction) return Unexpected{std::move(transaction).error()};
  auto row = writer_->load(key.space, key.key);
  if (!row) return Unexpected{std::move(row).error()};
  auto fence = core::decide_read(fence_of(*row), read.holder, read.opened);
  if (!fence) return Unexpected{std::move(fence).error()};
  if (auto saved = writer_->save_fence(key.space, key.key, *fence); !saved) {
    return Unexpected{std::move(saved).error()};
  }
  if (auto done = transaction->commit(); !done) return Unexpected{std::move(done).error()};
  if (*row) (*row)->fence = *fence;
  return to_reply(*row, fence->sequence);
}

StoreResult LocalStore::act(const Key& key, const WriteResource& write) {
  const std::lock_guard lock{writing_};
  if (auto begun = writer_->database().begin_operation(); !begun) {
    return Unexpected{std::move(begun).error()};
  }
  const bool simple = write.sequence && *write.sequence <= core::kSequenceMax && !write.keep &&
                      write.holder.mode == Mode::exclusive;
  if (simple) {
    const auto version = writer_->write_next(key.space, key.key, write);
    if (!version) return Unexpected{version.error()};
    if (*version) {
      return StoreReply{.changed = true, .version = **version, .sequence = *write.sequence};
    }
  }
  return write_anyhow(key, write);
}

StoreResult LocalStore::write_anyhow(const Key& key, const WriteResource& write) {
  auto transaction = StoreFile::Transaction::begin(*writer_);
  if (!transaction) return Unexpected{std::move(transaction).error()};
  auto row = writer_->load(key.space, key.key);
  if (!row) return Unexpected{std::move(row).error()};
  const bool same = *row ? (*row)->value == write.value : !write.value.has_value();
  auto decision = core::decide_write(
      fence_of(*row),
      write.holder,
      {.opened = write.opened, .sequence = write.sequence, .leaves_the_same = same});
  if (!decision) return Unexpected{std::move(decision).error()};
  if (decision->applied == Applied::duplicate) {
    return StoreReply{.applied = Applied::duplicate,
                      .version = (*row)->version,
                      .sequence = decision->fence.sequence};
  }
  Row changed{.value = write.value, .fence = decision->fence};
  if (write.keep) changed.expires_ms = wall_ms() + write.keep->count();
  const auto version = writer_->save(key.space, key.key, changed);
  if (!version) return Unexpected{version.error()};
  if (write.keep) {
    if (auto swept = writer_->sweep(); !swept) return Unexpected{std::move(swept).error()};
  }
  if (auto done = transaction->commit(); !done) return Unexpected{std::move(done).error()};
  return StoreReply{.changed = true, .version = *version, .sequence = decision->fence.sequence};
}

StoreResult LocalStore::act(const Key& key, const GetKey&) {
  const auto row = peek(key);
  if (!row) return Unexpected{row.error()};
  return to_reply(*row, 0);
}

StoreResult LocalStore::act(const Key& key, const PutKey& put) {
  const std::lock_guard lock{writing_};
  if (auto begun = writer_->database().begin_operation(); !begun) {
    return Unexpected{std::move(begun).error()};
  }
  const Version expected = put.if_version.value_or(Version::absent());
  if (put.if_version && expected == Version::absent()) {
    auto transaction = StoreFile::Transaction::begin(*writer_);
    if (!transaction) return Unexpected{std::move(transaction).error()};
    const auto row = writer_->load(key.space, key.key);
    if (!row) return Unexpected{row.error()};
    if (fence_of(*row)) return fenced(*fence_of(*row));
    if (*row) return conflict(expected, *row);
    const auto version = writer_->save(key.space, key.key, {.value = put.value});
    if (!version) return Unexpected{version.error()};
    if (auto done = transaction->commit(); !done) return Unexpected{std::move(done).error()};
    return StoreReply{.changed = true, .version = *version};
  }
  const auto version = put.if_version ? writer_->put_at(key.space, key.key, put.value, expected)
                                      : writer_->put(key.space, key.key, put.value);
  if (!version) return Unexpected{version.error()};
  if (*version) return StoreReply{.changed = true, .version = **version};
  return refuse_put(key, expected);
}

StoreResult LocalStore::refuse_put(const Key& key, Version expected) {
  const auto row = writer_->load(key.space, key.key);
  if (!row) return Unexpected{row.error()};
  if (fence_of(*row)) return fenced(*fence_of(*row));
  return conflict(expected, *row);
}

StoreResult LocalStore::act(const Key& key, const EraseKey& erase) {
  const std::lock_guard lock{writing_};
  auto transaction = StoreFile::Transaction::begin(*writer_);
  if (!transaction) return Unexpected{std::move(transaction).error()};
  const auto row = writer_->load(key.space, key.key);
  if (!row) return Unexpected{row.error()};
  if (fence_of(*row)) return fenced(*fence_of(*row));
  const Version actual = *row ? (*row)->version : Version::absent();
  if (erase.if_version && *erase.if_version != actual) return conflict(*erase.if_version, *row);
  if (!*row) return StoreReply{};
  if (auto removed = writer_->remove(key.space, key.key); !removed) {
    return Unexpected{std::move(removed).error()};
  }
  if (auto done = transaction->commit(); !done) return Unexpected{std::move(done).error()};
  return StoreReply{.changed = true, .version = actual};
}

StoreResult LocalStore::act(const Key& key, const RebaseResource& rebase) {
  const std::lock_guard lock{writing_};
  auto transaction = StoreFile::Transaction::begin(*writer_);
  if (!transaction) return Unexpected{std::move(transaction).error()};
  const auto row = writer_->load(key.space, key.key);
  if (!row) return Unexpected{row.error()};
  if (!fence_of(*row)) {
    return Unexpected{StoreError{Errc::not_found, "there is no fenced resource of that name"}};
  }
  const core::Fence& before = *fence_of(*row);
  // On record first: a fence that nobody can account for is worse than one that was not moved.
  const RebaseRecord record{.resource = std::string{key.key},
                            .from = before.domain,
                            .to = rebase.domain,
                            .highest = before.any.token,
                            .why = rebase.why};
  if (auto written = audit_rebase(directory_, record); !written) {
    return Unexpected{StoreError{std::move(written).error()}};
  }
  if (auto saved = writer_->save_fence(key.space, key.key, core::rebased(before, rebase.domain));
      !saved) {
    return Unexpected{std::move(saved).error()};
  }
  if (auto done = transaction->commit(); !done) return Unexpected{std::move(done).error()};
  return StoreReply{.changed = true, .version = (*row)->version};
}

}  // namespace holdfast::local
