#include "core/store_answer.h"

#include <algorithm>
#include <utility>

namespace holdfast::core {
namespace {

struct Code {
  std::string_view word;
  Errc code;
};

constexpr std::array kCodes{Code{"stale_token", Errc::stale_token},
                            Code{"wrong_domain", Errc::wrong_domain},
                            Code{"version_conflict", Errc::version_conflict},
                            Code{"invalid_argument", Errc::invalid_argument},
                            Code{"not_found", Errc::not_found}};

StoreReply read_entry(StoreWords words) {
  const auto [sequence, version, token, written] = words.numbers;
  StoreReply read{.version = Version{version}, .sequence = sequence};
  if (words.word == "absent") return read;
  read.entry = Entry{.value = std::move(words.text), .version = read.version};
  if (token != 0) {
    read.entry->token = Token{token};
    read.entry->sequence = written;
  }
  return read;
}

std::optional<StoreReply> read_done(StoreWords words) {
  const std::string& word = words.word;
  if (word == "opened") return StoreReply{.sequence = words.numbers[0]};
  if (word == "found" || word == "absent") return read_entry(std::move(words));
  if (word != "applied" && word != "duplicate" && word != "unchanged") return std::nullopt;
  return StoreReply{.changed = word == "applied",
                    .applied = word == "duplicate" ? Applied::duplicate : Applied::applied,
                    .version = Version{words.numbers[0]},
                    .sequence = words.numbers[1]};
}

StoreError read_refusal(Errc code, StoreWords words) {
  StoreError error{code, std::move(words.text)};
  if (code == Errc::version_conflict) error.actual = Version{words.numbers[0]};
  if (code != Errc::stale_token) return error;
  error.yours = Token{words.numbers[0]};
  if (const Token highest{words.numbers[1]}; highest != Token{0}) error.highest = highest;
  return error;
}

/// A key that is to be new may be erased again: an attempt that is still on its way then succeeds.
bool may_succeed_later(const StoreRequest& request, Errc code) {
  const auto* put = std::get_if<PutKey>(&request.operation);
  return code == Errc::version_conflict && put != nullptr && put->if_version == Version::absent();
}

/// Looking, and registering a holder, may be repeated at will.
bool is_repeatable(const StoreRequest& request) {
  const auto& operation = request.operation;
  return std::holds_alternative<GetKey>(operation) ||
         std::holds_alternative<OpenResource>(operation) ||
         std::holds_alternative<ReadResource>(operation);
}

}  // namespace

std::optional<StoreAnswer> to_answer(const StoreRequest& request, StoreWords words) {
  const auto code = std::ranges::find(kCodes, words.word, &Code::word);
  if (code == kCodes.end()) {
    auto reply = read_done(std::move(words));
    if (!reply) return std::nullopt;
    return StoreAnswer{*std::move(reply), Earlier::settled};
  }
  const bool settled = is_repeatable(request) || (words.earlier == Earlier::settled &&
                                                  !may_succeed_later(request, code->code));
  return StoreAnswer{Unexpected{read_refusal(code->code, std::move(words))},
                     settled ? Earlier::settled : Earlier::open};
}

StoreAnswer senseless(const StoreRequest& request) {
  const Error error{Errc::corrupt, "the server's answer makes no sense"};
  return {Unexpected{about(request, error)}, Earlier::open};
}

StoreError about(const StoreRequest& request, Error error) {
  error.message += " (key \"" + request.key + "\")";
  return StoreError{std::move(error)};
}

}  // namespace holdfast::core
