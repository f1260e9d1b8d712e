#include "core/store_step.h"

#include <algorithm>
#include <utility>

namespace holdfast::core {
namespace {

using Decision = Result<StoreStep, StoreError>;
using Content = StoreMark::Content;

std::string text(Version version) { return std::to_string(version.value()); }

const std::optional<Fence>& fence_of(const StoreSight& sight) {
  static const std::optional<Fence> kNone;
  return sight.mark ? sight.mark->fence : kNone;
}

bool has_value(const StoreSight& sight) {
  if (!sight.mark) return false;
  return sight.depth == StoreSight::Depth::all ? sight.has_value
                                               : sight.mark->content == Content::value;
}

StoreReply entry_of(const StoreSight& sight, std::uint64_t sequence) {
  StoreReply reply{.sequence = sequence};
  if (!sight.mark) return reply;
  reply.version = sight.mark->version;
  if (!sight.has_value) return reply;
  reply.entry = Entry{.value = sight.value, .version = reply.version};
  const auto& fence = sight.mark->fence;
  if (fence && fence->written != Token{0}) {
    reply.entry->token = fence->written;
    reply.entry->sequence = fence->written_sequence;
  }
  return reply;
}

Unexpected<StoreError> fenced(const Fence& fence) {
  return Unexpected{StoreError{Errc::wrong_domain,
                               "the key is fenced by the lock " + fence.domain,
                               "take that lock and write with its token"}};
}

Unexpected<StoreError> conflict(Version expected, Version actual) {
  StoreError error{Errc::version_conflict,
                   "the key is at version " + text(actual) + ", not at " + text(expected)};
  error.actual = actual;
  return Unexpected{std::move(error)};
}

Unexpected<StoreError> not_held(const Holder& holder) {
  StoreError error{Errc::stale_token,
                   "token " + std::to_string(holder.token.value()) + " no longer holds the lock " +
                       holder.domain + ": it was released, broken or has expired"};
  error.yours = holder.token;
  error.highest = holder.token;
  return Unexpected{std::move(error)};
}

/// Saves a fence. Without a value it is no longer forgotten: its holder is at work.
StoreChange with_fence(const StoreSight& sight, Fence fence, const Holder& holder) {
  StoreMark mark = sight.mark.value_or(StoreMark{});
  const bool is_new = !mark.fence || mark.fence->exclusive != fence.exclusive;
  if (is_new) mark.contender = fence.exclusive.is(holder) ? sight.contender : "";
  mark.fence = std::move(fence);
  if (!has_value(sight)) mark.content = Content::none;
  return {.mark = std::move(mark), .stay = has_value(sight) ? Stay::as_before : Stay::for_good};
}

/// A fence that would be forgotten although its value has gone.
bool is_fleeting(const StoreSight& sight) {
  return sight.fate == StoreSight::Fate::passes && !has_value(sight);
}

/// Gives the value a new version.
StoreStep changed(const StoreSight& sight, StoreMark mark, const StoreTicket& ticket) {
  mark.version = next_version(sight);
  const std::uint64_t sequence = mark.fence ? mark.fence->sequence : 0;
  mark.done.insert(mark.done.begin(), {ticket.id, mark.version, sequence});
  if (mark.done.size() > kRequestsKept) mark.done.resize(kRequestsKept);
  StoreStep step{.reply = {.changed = true, .version = mark.version, .sequence = sequence}};
  step.change = StoreChange{.mark = std::move(mark)};
  return step;
}

void put_value(StoreChange& change, std::optional<Millis> keep) {
  change.mark.content = keep ? Content::fleeting_value : Content::value;
  change.value = StoreChange::Value::is_put;
  change.keep = keep;
  change.stay = keep ? Stay::as_value : Stay::for_good;
}

void erase_value(StoreChange& change, std::optional<Millis> keep) {
  change.mark.content = Content::none;
  change.value = StoreChange::Value::goes;
  change.keep = keep;
  change.stay = keep ? Stay::as_value : change.mark.fence ? Stay::for_good : Stay::a_while;
}

Decision act(const OpenResource& open, const StoreSight& sight, const StoreTicket&) {
  auto fence = decide_open(fence_of(sight), open.holder, open.options);
  if (!fence) return Unexpected{std::move(fence).error()};
  StoreStep step{.reply = {.sequence = fence->sequence}};
  if (fence_of(sight) != *fence) step.change = with_fence(sight, *std::move(fence), open.holder);
  return step;
}

Decision act(const ReadResource& read, const StoreSight& sight, const StoreTicket&) {
  auto fence = decide_read(fence_of(sight), read.holder, read.opened);
  if (!fence) return Unexpected{std::move(fence).error()};
  if (read.sequence && fence->exclusive.is(read.holder) && *read.sequence < fence->sequence) {
    StoreError error{Errc::stale_token,
                     "sequence " + std::to_string(*read.sequence) + " is older than " +
                         std::to_string(fence->sequence)};
    error.yours = read.holder.token;
    error.highest = fence->exclusive.token;
    return Unexpected{std::move(error)};
  }
  StoreStep step{.reply = entry_of(sight, fence->sequence)};
  if (fence_of(sight) != *fence || is_fleeting(sight)) {
    step.change = with_fence(sight, *std::move(fence), read.holder);
  }
  return step;
}

Decision act(const WriteResource& write, const StoreSight& sight, const StoreTicket& ticket) {
  const bool known = sight.depth == StoreSight::Depth::all;
  const bool same = write.value ? sight.has_value && sight.value == *write.value : !sight.has_value;
  auto decision = decide_write(
      fence_of(sight),
      write.holder,
      {.opened = write.opened, .sequence = write.sequence, .leaves_the_same = known && same});
  if (!decision) return Unexpected{std::move(decision).error()};
  if (decision->applied == Applied::duplicate) {
    return StoreStep{.reply = {.applied = Applied::duplicate,
                               .version = sight.mark->version,
                               .sequence = decision->fence.sequence}};
  }
  StoreMark mark = with_fence(sight, std::move(decision->fence), write.holder).mark;
  if (known && !mark.contender.empty() && mark.contender != sight.contender) {
    return not_held(write.holder);
  }
  StoreStep step = changed(sight, std::move(mark), ticket);
  step.change->contender = step.change->mark.contender;
  step.change->token = write.holder.token;
  if (write.value)
    put_value(*step.change, write.keep);
  else
    erase_value(*step.change, write.keep);
  return step;
}

Decision act(const GetKey&, const StoreSight& sight, const StoreTicket&) {
  return StoreStep{.reply = entry_of(sight, 0)};
}

/// The version of a key without a fence.
Result<Version, StoreError> plain_version(const StoreSight& sight,
                                          std::optional<Version> expected) {
  if (fence_of(sight)) return fenced(*fence_of(sight));
  const Version actual = has_value(sight) ? sight.mark->version : Version::absent();
  if (expected && *expected != actual) return conflict(*expected, actual);
  return actual;
}

Decision act(const PutKey& put, const StoreSight& sight, const StoreTicket& ticket) {
  auto actual = plain_version(sight, put.if_version);
  if (!actual) return Unexpected{std::move(actual).error()};
  StoreStep step = changed(sight, sight.mark.value_or(StoreMark{}), ticket);
  put_value(*step.change, std::nullopt);
  return step;
}

Decision act(const EraseKey& erase, const StoreSight& sight, const StoreTicket& ticket) {
  auto actual = plain_version(sight, erase.if_version);
  if (!actual) return Unexpected{std::move(actual).error()};
  if (*actual == Version::absent()) return StoreStep{};
  StoreStep step = changed(sight, *sight.mark, ticket);
  erase_value(*step.change, std::nullopt);
  return step;
}

Decision act(const RebaseResource& rebase, const StoreSight& sight, const StoreTicket& ticket) {
  const auto& fence = fence_of(sight);
  if (!fence) {
    return Unexpected{StoreError{Errc::not_found, "there is no fenced resource of that name"}};
  }
  StoreMark mark = *sight.mark;
  mark.fence = rebased(*fence, rebase.domain);
  mark.contender.clear();
  mark.rebased = ticket.id;
  StoreStep step{.reply = {.changed = true, .version = mark.version}};
  step.change = StoreChange{.mark = std::move(mark),
                            .stay = has_value(sight) ? Stay::as_before : Stay::for_good};
  step.change->record = "action: rebase\nfrom: " + fence->domain + "\nto: " + rebase.domain +
                        "\nhighest: " + std::to_string(fence->any.token.value()) +
                        "\nwhy: " + rebase.why + "\nwho: " + ticket.who + '\n';
  return step;
}

/// The answer to a request that has been done.
std::optional<StoreReply> done_before(const StoreMark& mark, const std::string& id) {
  if (mark.rebased == id) return StoreReply{.changed = true, .version = mark.version};
  const auto found = std::ranges::find(mark.done, id, &DoneRequest::id);
  if (found == mark.done.end()) return std::nullopt;
  return StoreReply{.changed = true, .version = found->version, .sequence = found->sequence};
}

}  // namespace

bool decides_by_mark(const StoreRequest& request, const StoreSight& sight) {
  if (sight.depth != StoreSight::Depth::mark || !sight.mark) return false;
  if (const auto* write = std::get_if<WriteResource>(&request.operation)) {
    return sight.mark->fence && sight.mark->fence->exclusive.is(write->holder);
  }
  const bool plain = std::holds_alternative<PutKey>(request.operation) ||
                     std::holds_alternative<EraseKey>(request.operation);
  return plain && sight.mark->content != Content::fleeting_value;
}

bool wants_value(const StoreRequest& request) {
  return std::holds_alternative<GetKey>(request.operation) ||
         std::holds_alternative<ReadResource>(request.operation) ||
         std::holds_alternative<WriteResource>(request.operation);
}

const Holder* holder_of(const StoreRequest& request) {
  if (const auto* open = std::get_if<OpenResource>(&request.operation)) return &open->holder;
  if (const auto* read = std::get_if<ReadResource>(&request.operation)) return &read->holder;
  if (const auto* write = std::get_if<WriteResource>(&request.operation)) return &write->holder;
  return nullptr;
}

Result<StoreStep, StoreError> decide(const StoreRequest& request,
                                     const StoreSight& sight,
                                     const StoreTicket& ticket) {
  if (sight.mark) {
    if (const auto reply = done_before(*sight.mark, ticket.id)) return StoreStep{.reply = *reply};
  }
  return std::visit([&](const auto& operation) { return act(operation, sight, ticket); },
                    request.operation);
}

Version next_version(const StoreSight& sight) {
  const std::uint64_t known = sight.mark ? sight.mark->version.value() : 0;
  return Version{std::max(known, sight.revision) + 1};
}

bool remembers(const StoreSight& sight, Version version) {
  if (!sight.mark || sight.mark->done.size() < kRequestsKept) return true;
  return sight.mark->done.back().version <= version;
}

}  // namespace holdfast::core
