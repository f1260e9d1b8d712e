#include "engines/redis/store/store_answer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engines/redis/redis_reply.h"

namespace holdfast::redis {
namespace {

using Kind = Reply::Kind;

/// What an answer has after its first word.
struct Form {
  std::string_view word;
  std::size_t numbers;
  std::size_t texts;
};

constexpr std::array kForms{Form{"opened", 1, 0},
                            Form{"found", 4, 1},
                            Form{"absent", 2, 0},
                            Form{"applied", 2, 0},
                            Form{"duplicate", 2, 0},
                            Form{"unchanged", 2, 0}};

struct Code {
  std::string_view word;
  Errc code;
};

constexpr std::array kCodes{Code{"stale_token", Errc::stale_token},
                            Code{"wrong_domain", Errc::wrong_domain},
                            Code{"version_conflict", Errc::version_conflict},
                            Code{"invalid_argument", Errc::invalid_argument},
                            Code{"not_found", Errc::not_found}};

bool is_number(const Reply& item) { return item.kind == Kind::integer && item.integer >= 0; }

std::uint64_t number(const Reply& reply, std::size_t at) {
  return static_cast<std::uint64_t>(reply.items[at].integer);
}

bool has_form(const Reply& reply, const Form& form) {
  if (reply.items.size() != 1 + form.numbers + form.texts) return false;
  const auto numbers = reply.items.begin() + 1;
  const auto texts = numbers + static_cast<std::ptrdiff_t>(form.numbers);
  return reply.items[0].text == form.word && std::all_of(numbers, texts, is_number) &&
         std::all_of(
             texts, reply.items.end(), [](const Reply& item) { return item.kind == Kind::text; });
}

StoreReply read_entry(const Reply& reply) {
  StoreReply read{.version = Version{number(reply, 2)}, .sequence = number(reply, 1)};
  if (reply.items[0].text == "absent") return read;
  read.entry = Entry{.value = reply.items[5].text, .version = read.version};
  if (const Token token{number(reply, 3)}; token != Token{0}) {
    read.entry->token = token;
    read.entry->sequence = number(reply, 4);
  }
  return read;
}

StoreReply read_done(const Reply& reply) {
  const std::string& word = reply.items[0].text;
  if (word == "opened") return {.sequence = number(reply, 1)};
  if (word == "found" || word == "absent") return read_entry(reply);
  return {.changed = word == "applied",
          .applied = word == "duplicate" ? Applied::duplicate : Applied::applied,
          .version = Version{number(reply, 1)},
          .sequence = number(reply, 2)};
}

/// A refusal: code, message, two numbers, and whether that is all.
bool is_refusal(const Reply& reply) {
  return reply.items.size() == 5 && reply.items[1].kind == Kind::text &&
         is_number(reply.items[2]) && is_number(reply.items[3]) &&
         reply.items[4].kind == Kind::text;
}

StoreError read_refusal(Errc code, const Reply& reply) {
  StoreError error{code, reply.items[1].text};
  if (code == Errc::version_conflict) error.actual = Version{number(reply, 2)};
  if (code != Errc::stale_token) return error;
  error.yours = Token{number(reply, 2)};
  if (const Token highest{number(reply, 3)}; highest != Token{0}) error.highest = highest;
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

StoreError about(const StoreRequest& request, Error error) {
  error.message += " (key \"" + request.key + "\")";
  return StoreError{std::move(error)};
}

StoreError refused_by_server(const StoreRequest& request, const std::string& message) {
  Error error = error_of(message);
  // How servers put it when it is a script that may not do something.
  const bool may_not = message.find("ACL failure") != std::string::npos ||
                       message.find("user executing the script can't") != std::string::npos;
  if (may_not) error.code = Errc::denied;
  if (error.code == Errc::corrupt) {
    error.remedy_text = "something else writes under this prefix: use another one";
  }
  return about(request, std::move(error));
}

}  // namespace

StoreAnswer read_store_answer(const StoreRequest& request, const Reply& reply) {
  if (reply.kind == Kind::error) {
    return {Unexpected{refused_by_server(request, reply.text)}, Earlier::open};
  }
  const bool has_word = reply.kind == Kind::array && !reply.items.empty();
  if (has_word && std::ranges::any_of(kForms, [&](auto& form) { return has_form(reply, form); })) {
    return {read_done(reply), Earlier::settled};
  }
  const auto code =
      has_word ? std::ranges::find(kCodes, reply.items[0].text, &Code::word) : kCodes.end();
  if (code == kCodes.end() || !is_refusal(reply)) {
    const Error senseless{Errc::corrupt, "the server's answer makes no sense"};
    return {Unexpected{about(request, senseless)}, Earlier::open};
  }
  const bool settled = is_repeatable(request) || (reply.items[4].text == "settled" &&
                                                  !may_succeed_later(request, code->code));
  return {Unexpected{read_refusal(code->code, reply)}, settled ? Earlier::settled : Earlier::open};
}

}  // namespace holdfast::redis
