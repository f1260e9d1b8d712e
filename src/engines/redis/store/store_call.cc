#include "engines/redis/store/store_call.h"

#include <utility>

#include "engines/redis/store/store_script.h"

namespace holdfast::redis {
namespace {

using Words = std::vector<std::string>;

template <class Number>
std::string number(const std::optional<Number>& given) {
  return given ? std::to_string(*given) : std::string{};
}

std::string number(const std::optional<Version>& version) {
  return version ? std::to_string(version->value()) : std::string{};
}

std::string word(core::Opened opened) { return opened == core::Opened::before ? "before" : ""; }

std::string word(const std::optional<WritePolicy>& policy) {
  if (!policy) return {};
  return *policy == WritePolicy::strict ? "strict" : "many";
}

/// The operation with its holder.
Words begin(std::string_view operation, const core::Holder& holder) {
  return {std::string{operation},
          holder.domain,
          std::string{to_string(holder.mode)},
          std::to_string(holder.token.value()),
          holder.owner_fp};
}

Words to_words(const OpenResource& open, const StoreTicket&) {
  Words words = begin("open", open.holder);
  words.push_back(word(open.options.policy));
  return words;
}

Words to_words(const ReadResource& read, const StoreTicket&) {
  Words words = begin("read", read.holder);
  words.push_back(number(read.sequence));
  words.push_back(word(read.opened));
  return words;
}

Words to_words(const WriteResource& write, const StoreTicket&) {
  Words words = begin(write.value ? "write" : "remove", write.holder);
  if (write.value) words.push_back(*write.value);
  words.push_back(number(write.sequence));
  words.push_back(word(write.opened));
  words.push_back(write.keep ? std::to_string(write.keep->count()) : "");
  return words;
}

Words to_words(const GetKey&, const StoreTicket&) { return {"get"}; }

Words to_words(const PutKey& put, const StoreTicket&) {
  return {"put", put.value, number(put.if_version)};
}

Words to_words(const EraseKey& erase, const StoreTicket&) {
  return {"erase", number(erase.if_version)};
}

Words to_words(const RebaseResource& rebase, const StoreTicket& ticket) {
  return {"rebase", rebase.domain, rebase.why, ticket.who};
}

std::string key_of(std::string_view prefix,
                   std::string_view what,
                   Space space,
                   std::string_view key) {
  std::string text{prefix};
  text += '\x01';
  text += what;
  text += space == Space::once ? "once:{" : "value:{";
  text += key;
  return text + '}';
}

}  // namespace

std::string store_key(std::string_view prefix, Space space, std::string_view key) {
  return key_of(prefix, "", space, key);
}

std::string record_key(std::string_view prefix, Space space, std::string_view key) {
  return key_of(prefix, "audit:", space, key);
}

ScriptCall to_call(const StoreRequest& request,
                   std::string_view prefix,
                   const StoreTicket& ticket,
                   core::Attempt attempt) {
  ScriptCall call{
      .script = &kStoreScript,
      .keys = {store_key(prefix, request.space, request.key)},
      .args = std::visit([&](const auto& operation) { return to_words(operation, ticket); },
                         request.operation)};
  if (std::holds_alternative<RebaseResource>(request.operation)) {
    call.keys.push_back(record_key(prefix, request.space, request.key));
  }
  // The server's clock need not go as ours does.
  const auto age = std::chrono::microseconds{2 * ticket.timeout};
  const Words about{ticket.id, attempt == core::Attempt::first ? "" : std::to_string(age.count())};
  call.args.insert(call.args.begin() + 1, about.begin(), about.end());
  return call;
}

}  // namespace holdfast::redis
