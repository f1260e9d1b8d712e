#include "cli/store/access.h"

#include <utility>

#include "core/limits.h"
#include "core/store_backend.h"
#include "holdfast/client.h"
#include "holdfast/fenced_file.h"

namespace holdfast::cli {
namespace {

Unexpected<StoreError> failed(Error error) { return Unexpected{StoreError{std::move(error)}}; }

Result<Store, StoreError> connect(const std::string& engine) {
  auto store = Store::connect(engine);
  if (!store) return failed(std::move(store).error());
  return std::move(*store);
}

/// The holder with its domain.
Result<Sequencer, StoreError> holder_at(const Target& target, const std::string& engine) {
  Sequencer holder = *target.holder;
  if (!holder.domain.empty()) return holder;
  const auto client = Client::connect(engine);
  if (!client) return failed(client.error());
  holder.domain = client->domain();
  return holder;
}

/// Performs the operation as the target's holder. It is not said to have been opened before: a
/// command has no memory, so each of its operations registers the token by itself.
template <class Operation>
StoreResult perform(const Target& target, const std::string& engine, Operation operation) {
  auto client = Client::connect(engine);
  if (!client) return failed(client.error());
  Sequencer sequencer = *target.holder;
  if (sequencer.domain.empty()) sequencer.domain = client->domain();
  auto holder = core::to_holder(sequencer);
  if (!holder) return Unexpected{std::move(holder).error()};
  operation.holder = std::move(*holder);
  const auto store = client->store();
  if (!store) return failed(store.error());
  return store->backend()->perform({.key = target.key, .operation = std::move(operation)});
}

Result<FencedFile, StoreError> file_of(const Target& target, const std::string& engine) {
  const auto holder = holder_at(target, engine);
  if (!holder) return Unexpected{holder.error()};
  return FencedFile::unopened(target.key, *holder);
}

Result<std::optional<Entry>, StoreError> read_file(const Target& target,
                                                   const std::string& engine) {
  auto file = file_of(target, engine);
  if (!file) return Unexpected{std::move(file).error()};
  auto content = file->read();
  if (!content) return Unexpected{std::move(content).error()};
  if (!*content) return std::optional<Entry>{};
  return std::optional{Entry{.value = std::move(**content)}};
}

Result<Change, StoreError> change_file(const Target& target,
                                       const std::string& engine,
                                       const std::optional<std::string>& value) {
  auto file = file_of(target, engine);
  if (!file) return Unexpected{std::move(file).error()};
  const auto receipt = [&] {
    if (value)
      return target.sequence ? file->write_at(*target.sequence, *value) : file->write(*value);
    return target.sequence ? file->erase_at(*target.sequence) : file->erase();
  }();
  if (!receipt) return Unexpected{receipt.error()};
  return Change{.applied = receipt->applied == Applied::applied,
                .duplicate = receipt->applied == Applied::duplicate,
                .version = receipt->version,
                .token = receipt->token,
                .sequence = receipt->sequence};
}

Result<Change, StoreError> change_fenced(const Target& target,
                                         const std::string& engine,
                                         std::optional<std::string> value) {
  const auto reply =
      perform(target,
              engine,
              WriteResource{.holder = {}, .sequence = target.sequence, .value = std::move(value)});
  if (!reply) return Unexpected{reply.error()};
  return Change{.applied = reply->applied == Applied::applied,
                .duplicate = reply->applied == Applied::duplicate,
                .version = reply->version,
                .token = target.holder->token,
                .sequence = reply->sequence};
}

Result<Change, StoreError> change_versioned(const Target& target,
                                            const std::string& engine,
                                            const std::optional<std::string>& value) {
  auto store = connect(engine);
  if (!store) return Unexpected{std::move(store).error()};
  if (value) {
    const auto version = store->put(target.key, *value, {.if_version = target.if_version});
    if (!version) return Unexpected{version.error()};
    return Change{.applied = true, .version = *version};
  }
  const auto erased = store->erase(target.key, {.if_version = target.if_version});
  if (!erased) return Unexpected{erased.error()};
  return Change{.applied = *erased};
}

}  // namespace

Result<std::uint64_t, StoreError> open_target(const Target& target,
                                              const std::string& engine,
                                              const OpenOptions& options) {
  if (!target.is_file) {
    const auto reply = perform(target, engine, OpenResource{.holder = {}, .options = options});
    if (!reply) return Unexpected{reply.error()};
    return reply->sequence;
  }
  const auto holder = holder_at(target, engine);
  if (!holder) return Unexpected{holder.error()};
  const auto file = FencedFile::open(target.key, *holder, options);
  if (!file) return Unexpected{file.error()};
  return file->sequence();
}

Result<std::optional<Entry>, StoreError> read_target(const Target& target,
                                                     const std::string& engine) {
  if (target.is_file) return read_file(target, engine);
  if (target.holder) {
    auto reply = perform(target, engine, ReadResource{.holder = {}, .sequence = target.sequence});
    if (!reply) return Unexpected{std::move(reply).error()};
    return std::move(reply->entry);
  }
  auto store = connect(engine);
  if (!store) return Unexpected{std::move(store).error()};
  return store->get(target.key);
}

Result<Change, StoreError> change_target(const Target& target,
                                         const std::string& engine,
                                         std::optional<std::string> value) {
  if (target.is_file) return change_file(target, engine, value);
  if (value) {
    if (auto good = core::check_value(*value); !good) return failed(std::move(good).error());
  }
  return target.holder ? change_fenced(target, engine, std::move(value))
                       : change_versioned(target, engine, value);
}

}  // namespace holdfast::cli
