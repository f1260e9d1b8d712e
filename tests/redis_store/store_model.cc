#include "tests/redis_store/store_model.h"

#include <utility>

namespace holdfast::redis_store {
namespace {

using Expiry = ModelRow::Expiry;

StoreReply to_reply(const ModelRow* row, std::uint64_t sequence) {
  StoreReply reply{.sequence = sequence};
  if (row == nullptr) return reply;
  reply.version = row->version;
  if (!row->value) return reply;
  reply.entry = Entry{.value = *row->value, .version = row->version};
  if (row->fence && row->fence->written != Token{0}) {
    reply.entry->token = row->fence->written;
    reply.entry->sequence = row->fence->written_sequence;
  }
  return reply;
}

}  // namespace

StoreResult StoreModel::perform(const StoreRequest& request) {
  return std::visit([&](const auto& operation) { return act(request.key, operation); },
                    request.operation);
}

void StoreModel::accept(const std::string& key, Version version) {
  rows_.at(key).version = version;
}

const ModelRow* StoreModel::find(const std::string& key) const {
  const auto row = rows_.find(key);
  return row == rows_.end() ? nullptr : &row->second;
}

void StoreModel::expire(const std::string& key) {
  ModelRow& row = rows_.at(key);
  row.expiry = Expiry::past;
  row.value.reset();
}

std::optional<core::Fence> StoreModel::fence_of(const std::string& key) const {
  const ModelRow* row = find(key);
  return row == nullptr ? std::nullopt : row->fence;
}

void StoreModel::save_fence(const std::string& key, const core::Fence& fence) {
  ModelRow& row = rows_[key];
  row.fence = fence;
  if (!row.value) row.expiry = Expiry::never;
}

StoreResult StoreModel::act(const std::string& key, const OpenResource& open) {
  auto fence = core::decide_open(fence_of(key), open.holder, open.options);
  if (!fence) return Unexpected{std::move(fence).error()};
  if (fence_of(key) != *fence) save_fence(key, *fence);
  return StoreReply{.sequence = fence->sequence};
}

StoreResult StoreModel::act(const std::string& key, const ReadResource& read) {
  auto fence = core::decide_read(fence_of(key), read.holder, read.opened);
  if (!fence) return Unexpected{std::move(fence).error()};
  if (read.sequence && fence->exclusive.is(read.holder) && *read.sequence < fence->sequence) {
    StoreError error{Errc::stale_token,
                     "sequence " + std::to_string(*read.sequence) + " is older than " +
                         std::to_string(fence->sequence)};
    error.yours = read.holder.token;
    error.highest = fence->exclusive.token;
    return Unexpected{std::move(error)};
  }
  const bool gone = find(key) != nullptr && !find(key)->value;
  if (fence_of(key) != *fence || gone) save_fence(key, *fence);
  return to_reply(find(key), fence->sequence);
}

StoreResult StoreModel::act(const std::string& key, const WriteResource& write) {
  const ModelRow* row = find(key);
  const auto before = row == nullptr ? std::nullopt : row->value;
  auto decision = core::decide_write(fence_of(key),
                                     write.holder,
                                     {.opened = write.opened,
                                      .sequence = write.sequence,
                                      .leaves_the_same = before == write.value});
  if (!decision) return Unexpected{std::move(decision).error()};
  if (decision->applied == Applied::duplicate) {
    return StoreReply{.applied = Applied::duplicate,
                      .version = row->version,
                      .sequence = decision->fence.sequence};
  }
  ModelRow& changed = rows_[key];
  changed.value = write.value;
  changed.fence = decision->fence;
  changed.expiry = write.keep ? Expiry::to_come : Expiry::never;
  return StoreReply{.changed = true, .sequence = decision->fence.sequence};
}

StoreResult StoreModel::act(const std::string& key, const GetKey&) {
  const auto fence = fence_of(key);
  return to_reply(find(key), fence ? fence->sequence : 0);
}

Result<Version, StoreError> StoreModel::plain_version(
    const std::string& key, const std::optional<Version>& expected) const {
  if (const auto fence = fence_of(key)) {
    return Unexpected{
        StoreError{Errc::wrong_domain, "the key is fenced by the lock " + fence->domain}};
  }
  const ModelRow* row = find(key);
  const Version actual = row != nullptr && row->value ? row->version : Version::absent();
  if (!expected || *expected == actual) return actual;
  StoreError error{Errc::version_conflict,
                   "the key is at version " + std::to_string(actual.value()) + ", not at " +
                       std::to_string(expected->value())};
  error.actual = actual;
  return Unexpected{std::move(error)};
}

StoreResult StoreModel::act(const std::string& key, const PutKey& put) {
  auto version = plain_version(key, put.if_version);
  if (!version) return Unexpected{std::move(version).error()};
  rows_[key].value = put.value;
  return StoreReply{.changed = true};
}

StoreResult StoreModel::act(const std::string& key, const EraseKey& erase) {
  auto version = plain_version(key, erase.if_version);
  if (!version) return Unexpected{std::move(version).error()};
  if (*version == Version::absent()) return StoreReply{};
  rows_[key].value.reset();
  return StoreReply{.changed = true};
}

StoreResult StoreModel::act(const std::string& key, const RebaseResource& rebase) {
  const auto fence = fence_of(key);
  if (!fence) {
    return Unexpected{StoreError{Errc::not_found, "there is no fenced resource of that name"}};
  }
  save_fence(key, core::rebased(*fence, rebase.domain));
  return StoreReply{.changed = true, .version = find(key)->version};
}

}  // namespace holdfast::redis_store
