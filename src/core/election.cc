#include "core/election.h"

#include <algorithm>

#include "base/invalid.h"
#include "base/percent.h"
#include "core/limits.h"

namespace holdfast::core {
namespace {

constexpr std::string_view kMark = "candidate ";
constexpr std::string_view kComma = ", ";
constexpr std::string_view kNext = ".next";

constexpr std::size_t kIdBytesMax = 128;
constexpr std::size_t kPublishedBytesMax = 2048;

}  // namespace

std::string to_label(const CandidateLabel& candidate) {
  std::string label = std::string{kMark} + percent_encode(candidate.id, "-._~/:@");
  if (!candidate.value.empty()) label += std::string{kComma} + candidate.value;
  return label;
}

std::optional<CandidateLabel> read_candidate(std::string_view label) {
  if (!label.starts_with(kMark)) return std::nullopt;
  label.remove_prefix(kMark.size());
  const std::size_t comma = label.find(kComma);
  auto id = percent_decode(label.substr(0, comma));
  if (!id || id->empty() || id->find(' ') != std::string::npos) return std::nullopt;
  CandidateLabel candidate{.id = *std::move(id), .value = {}};
  if (comma != std::string_view::npos) candidate.value = label.substr(comma + kComma.size());
  return candidate;
}

Result<std::string> next_leader_name(std::string_view name) {
  if (auto good = check_name(name); !good) return Unexpected{good.error()};
  std::string next = std::string{name} + std::string{kNext};
  if (next.size() > kNameBytesMax) {
    return invalid("the name of the election has " + std::to_string(name.size()) + " bytes",
                   "use at most " + std::to_string(kNameBytesMax - kNext.size()) + " bytes");
  }
  return next;
}

Result<void> check_candidate(std::string_view id, std::string_view value) {
  if (id.size() > kIdBytesMax) {
    return invalid("the candidate's id has " + std::to_string(id.size()) + " bytes",
                   "use at most 128 bytes");
  }
  if (auto good = check_name(id); !good || id.find(' ') != std::string_view::npos) {
    return invalid("the candidate's id is empty, or has spaces or control characters",
                   "use a short name such as worker-2");
  }
  if (value.size() > kPublishedBytesMax) {
    return invalid("the candidate's value has " + std::to_string(value.size()) + " bytes",
                   "use at most 2048 bytes");
  }
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::ranges::any_of(value, is_control)) {
    return invalid("the candidate's value has a control character", "remove control characters");
  }
  return {};
}

std::optional<std::string> named_next(const LockInfo& next) {
  if (next.holders.empty()) return std::nullopt;
  auto named = read_candidate(next.holders.front().label);
  if (!named) return std::nullopt;
  return std::move(named->id);
}

bool is_waiting(const LockInfo& lock, std::string_view id) {
  return std::ranges::any_of(lock.waiters, [&](const Contender& waiter) {
    const auto candidate = read_candidate(waiter.label);
    return candidate && candidate->id == id;
  });
}

bool gives_way(std::string_view own_id,
               const std::optional<std::string>& named,
               const LockInfo& lock,
               Queue queue) {
  if (!named || *named == own_id) return false;
  return queue == Queue::unordered || is_waiting(lock, *named);
}

}  // namespace holdfast::core
