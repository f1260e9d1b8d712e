#include "holdfast/store.h"

#include <utility>

#include "client/resource_state.h"
#include "core/limits.h"

namespace holdfast {
namespace {

using Prepared = Result<StoreRequest, StoreError>;

Unexpected<StoreError> refuse(Error error) { return Unexpected{StoreError{std::move(error)}}; }

template <class Operation>
Prepared prepare(std::string_view key, Operation operation) {
  if (auto good = core::check_key(key); !good) return refuse(std::move(good).error());
  return StoreRequest{.key = std::string{key}, .operation = std::move(operation)};
}

Prepared prepare_open(std::string_view resource,
                      const Sequencer& sequencer,
                      const OpenOptions& options) {
  auto holder = core::to_holder(sequencer);
  if (!holder) return Unexpected{std::move(holder).error()};
  return prepare(resource, OpenResource{.holder = std::move(*holder), .options = options});
}

Prepared prepare_put(std::string_view key, std::string_view value, const PutOptions& options) {
  if (auto good = core::check_value(value); !good) return refuse(std::move(good).error());
  return prepare(key, PutKey{.value = std::string{value}, .if_version = options.if_version});
}

/// The result of a prepared request, made of the reply by `convert`.
template <class Convert>
auto now(StoreBackend& store, Prepared request, const Convert& convert)
    -> Result<decltype(convert(std::declval<StoreReply&&>())), StoreError> {
  if (!request) return Unexpected{std::move(request).error()};
  auto reply = store.perform(*request);
  if (!reply) return Unexpected{std::move(reply).error()};
  return convert(std::move(*reply));
}

template <class Convert, class Callback>
void later(StoreBackend& store, Prepared request, Convert convert, Callback callback) {
  if (!request) return callback(Unexpected{std::move(request).error()});
  store.async_perform(
      std::move(*request),
      [convert = std::move(convert), callback = std::move(callback)](StoreResult reply) {
        if (!reply) return callback(Unexpected{std::move(reply).error()});
        callback(convert(std::move(*reply)));
      });
}

std::optional<Entry> to_entry(StoreReply&& reply) { return std::move(reply.entry); }
Version to_version(StoreReply&& reply) { return reply.version; }
bool to_changed(StoreReply&& reply) { return reply.changed; }

/// Makes the handle of an opened resource.
auto to_resource(const std::shared_ptr<StoreBackend>& store, const Prepared& request) {
  return [store, request](StoreReply&& reply) {
    const auto& open = std::get<OpenResource>(request->operation);
    return Resource{
        std::make_shared<Resource::State>(store, request->key, open.holder, reply.sequence)};
  };
}

}  // namespace

Result<Resource, StoreError> Store::open(std::string_view resource,
                                         const Sequencer& holder,
                                         const OpenOptions& options) {
  const auto request = prepare_open(resource, holder, options);
  return now(*store_, request, to_resource(store_, request));
}

Result<Resource, StoreError> Store::open(std::string_view resource,
                                         const Lease& lease,
                                         const OpenOptions& options) {
  const auto holder = parse_sequencer(lease.sequencer());
  if (!holder) return refuse(holder.error());
  return open(resource, *holder, options);
}

Result<void, StoreError> Store::check(std::string_view resource, const Sequencer& holder) {
  auto opened = open(resource, holder);
  if (!opened) return Unexpected{std::move(opened).error()};
  return {};
}

Result<std::optional<Entry>, StoreError> Store::get(std::string_view key) {
  return now(*store_, prepare(key, GetKey{}), to_entry);
}

Result<Version, StoreError> Store::put(std::string_view key,
                                       std::string_view value,
                                       const PutOptions& options) {
  return now(*store_, prepare_put(key, value, options), to_version);
}

Result<bool, StoreError> Store::erase(std::string_view key, const EraseOptions& options) {
  return now(*store_, prepare(key, EraseKey{.if_version = options.if_version}), to_changed);
}

Result<void, StoreError> Store::rebase(std::string_view resource,
                                       std::string_view domain,
                                       std::string_view lock,
                                       std::string_view why) {
  if (auto good = core::check_name(lock); !good) return refuse(std::move(good).error());
  if (why.size() > kMetadataBytesMax) {
    return refuse({Errc::invalid_argument,
                   "the reason of the rebase has " + std::to_string(why.size()) + " bytes",
                   "use at most 4096 bytes"});
  }
  auto moved = now(
      *store_,
      prepare(resource,
              RebaseResource{.domain = core::lock_domain(domain, lock), .why = std::string{why}}),
      to_changed);
  if (!moved) return Unexpected{std::move(moved).error()};
  return {};
}

void Store::async_open(std::string_view resource,
                       const Sequencer& holder,
                       const OpenOptions& options,
                       OpenCallback callback) {
  const auto request = prepare_open(resource, holder, options);
  later(*store_, request, to_resource(store_, request), std::move(callback));
}

void Store::async_check(std::string_view resource,
                        const Sequencer& holder,
                        CheckCallback callback) {
  async_open(resource,
             holder,
             {},
             [callback = std::move(callback)](const Result<Resource, StoreError>& opened) {
               if (!opened) return callback(Unexpected{opened.error()});
               callback({});
             });
}

void Store::async_get(std::string_view key, GetCallback callback) {
  later(*store_, prepare(key, GetKey{}), to_entry, std::move(callback));
}

void Store::async_put(std::string_view key,
                      std::string_view value,
                      const PutOptions& options,
                      PutCallback callback) {
  later(*store_, prepare_put(key, value, options), to_version, std::move(callback));
}

void Store::async_erase(std::string_view key, const EraseOptions& options, EraseCallback callback) {
  later(*store_,
        prepare(key, EraseKey{.if_version = options.if_version}),
        to_changed,
        std::move(callback));
}

}  // namespace holdfast
