#include "tests/redis_store/store_dice.h"

namespace holdfast::redis_store {

std::string describe(const StoreResult& result, Versions versions) {
  if (!result) {
    const StoreError& error = result.error();
    std::string text = std::string{to_string(error.code)} + ": " + error.message;
    if (error.yours) text += ", yours " + std::to_string(error.yours->value());
    if (error.highest) text += ", highest " + std::to_string(error.highest->value());
    if (error.actual) text += ", actual " + std::to_string(error.actual->value());
    return text;
  }
  std::string text = result->changed ? "changed" : "unchanged";
  if (result->applied == Applied::duplicate) text += " duplicate";
  text += ", sequence " + std::to_string(result->sequence);
  if (versions == Versions::told) text += ", version " + std::to_string(result->version.value());
  if (result->entry) {
    text += ", \"" + result->entry->value + "\"";
    if (result->entry->token) text += " by " + std::to_string(result->entry->token->value());
    text += "/" + std::to_string(result->entry->sequence);
  }
  return text;
}

std::vector<std::string> describe(const ModelRow* row) {
  if (row == nullptr || !row->fence) return std::vector<std::string>(9);
  const core::Fence& fence = *row->fence;
  const auto number = [](Token token) { return std::to_string(token.value()); };
  return {fence.domain,
          fence.policy == WritePolicy::strict ? "strict" : "many",
          number(fence.exclusive.token),
          fence.exclusive.owner_fp,
          number(fence.any.token),
          fence.any.owner_fp,
          std::to_string(fence.sequence),
          number(fence.written),
          std::to_string(fence.written_sequence)};
}

}  // namespace holdfast::redis_store
