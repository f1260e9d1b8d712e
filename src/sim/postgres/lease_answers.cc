#include "sim/postgres/lease_answers.h"

#include <array>
#include <string_view>
#include <utility>

#include "base/decimal.h"
#include "engines/postgres/lease_statements.h"
#include "sim/postgres/plain_statements.h"
#include "sim/postgres/text_array.h"

namespace holdfast::sim {
namespace {

using namespace postgres;
using Args = std::vector<Value>;

std::string text_of(const Value& value) { return value.value_or(""); }

/// Precondition: the arguments were found to be of their types.
WallTime time_of(const Value& value) { return std::chrono::milliseconds{*number_of(value)}; }

std::string in_ms(WallTime time) { return std::to_string(whole_ms(time)); }

Value truth(bool value) { return value ? "t" : "f"; }

LeaseAsk ask_of(const Args& args, std::size_t at, const Value& session) {
  LeaseAsk ask{.owner = text_of(args[at]),
               .note = text_of(args[at + 2]),
               .claim = text_of(args[at + 3]),
               .ttl = time_of(args[at + 1]),
               .delay = time_of(args[at + 4])};
  if (session) ask.session = number_of(session);
  return ask;
}

Row row_of(const LeaseReply& reply) {
  using Kind = LeaseReply::Kind;
  switch (reply.kind) {
    case Kind::granted:
      return {"granted", std::to_string(reply.token), std::nullopt, std::nullopt};
    case Kind::permits:
      return {"permits", std::nullopt, std::nullopt, std::nullopt};
    case Kind::busy:
    case Kind::queued:
      break;
  }
  return {reply.kind == Kind::busy ? "busy" : "queued",
          reply.holder,
          std::to_string(reply.change),
          truth(reply.first)};
}

Answer acquire(const Args& args, LeaseFunctions& functions) {
  const auto wait = args[7] == "t" ? LeaseFunctions::Wait::yes : LeaseFunctions::Wait::no;
  const LeaseAsk ask = ask_of(args, 1, args[6]);
  return Rows{row_of(functions.acquire(text_of(args[0]), ask, wait))};
}

Answer refresh(const Args& args, LeaseFunctions& functions) {
  std::array<std::vector<Value>, 6> columns;
  for (std::size_t i = 0; i < columns.size(); ++i) columns[i] = parse_array(text_of(args[i]));
  Rows rows;
  for (std::size_t i = 0; i < columns[0].size(); ++i) {
    Args one;
    for (const auto& column : columns) one.push_back(column.at(i));
    const LeaseAsk ask = ask_of(one, 1, args[6]);
    rows.push_back(row_of(functions.acquire(text_of(one[0]), ask, LeaseFunctions::Wait::yes)));
  }
  return rows;
}

Answer confirm(const Args& args, LeaseFunctions& functions) {
  const HolderRow* const mine = functions.confirm(text_of(args[0]), text_of(args[1]));
  if (mine == nullptr) return Rows{{std::nullopt, std::nullopt}};
  return Rows{{std::to_string(mine->token), in_ms(functions.left_of(*mine))}};
}

Answer release(const Args& args, LeaseFunctions& functions) {
  std::optional<std::uint64_t> token;
  if (args[2]) token = static_cast<std::uint64_t>(*number_of(args[2]));
  return Rows{{truth(functions.release(text_of(args[0]), text_of(args[1]), token))}};
}

Answer renew(const Args& args, LeaseFunctions& functions) {
  constexpr std::array kFates{"renewed", "gone", "broken", "failed_over"};
  const auto names = parse_array(text_of(args[0]));
  const auto owners = parse_array(text_of(args[1]));
  const auto tokens = parse_array(text_of(args[2]));
  Rows rows;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto token = static_cast<std::uint64_t>(number_of(tokens.at(i)).value_or(0));
    LeaseAsk ask{.owner = text_of(owners.at(i)), .ttl = time_of(args[3])};
    ask.session = number_of(args[4]);
    const LeaseFate fate = functions.renew(text_of(names[i]), ask, token);
    rows.push_back({kFates.at(static_cast<std::size_t>(fate))});
  }
  return rows;
}

Row row_of(const HolderRow& holder, WallTime now) {
  return {"holder",
          holder.ask.owner,
          holder.ask.note,
          holder.ask.claim,
          std::to_string(holder.token),
          in_ms(holder.until - now),
          in_ms(holder.ask.ttl)};
}

Row row_of(const WaiterRow& waiter, WallTime now) {
  const Value left = waiter.ask.session ? std::nullopt : Value{in_ms(waiter.until - now)};
  return {"waiter",
          waiter.ask.owner,
          waiter.ask.note,
          waiter.ask.claim,
          std::nullopt,
          left,
          in_ms(waiter.ask.ttl)};
}

Rows shown(const std::string& name, const LeaseFunctions& functions) {
  const LockRows lock = functions.inspect(name);
  const WallTime now = functions.now();
  Rows rows;
  WallTime closed{};
  for (const HolderRow& holder : lock.holders) {
    if (functions.stands(holder)) rows.push_back(row_of(holder, now));
    if (!functions.stands(holder)) closed = std::max(closed, holder.until + holder.ask.delay - now);
  }
  if (closed > WallTime{}) {
    const Value none;
    rows.push_back({"delay", none, none, none, none, std::to_string(whole_ms(closed) + 1), "0"});
  }
  for (const WaiterRow& waiter : lock.waiters) rows.push_back(row_of(waiter, now));
  return rows;
}

Answer inspect(const Args& args, LeaseFunctions& functions) {
  return shown(text_of(args[0]), functions);
}

Answer list(const Args& args, LeaseFunctions& functions) {
  const std::string prefix = text_of(args[0]);
  Rows rows;
  for (const auto& [name, lock] : functions.tables().locks) {
    if (!name.starts_with(prefix)) continue;
    for (Row& row : shown(name, functions)) {
      row.insert(row.begin(), name);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

Answer end_by_force(const Args& args, LeaseFunctions& functions) {
  const LeaseFunctions::Broken broken = functions.end_by_force(text_of(args[0]));
  Rows rows;
  for (const HolderRow& ended : broken.leases) {
    rows.push_back({ended.ask.owner, std::to_string(ended.token), ended.ask.note});
  }
  if (broken.only_closed) rows.emplace_back(3);
  return rows;
}

Answer extend(const Args& args, LeaseFunctions& functions) {
  const auto left = functions.extend(text_of(args[0]), text_of(args[1]), time_of(args[2]));
  return Rows{{left ? Value{in_ms(*left)} : std::nullopt}};
}

Answer rows_if(bool found, const Args& args) { return found ? Rows{{args[0]}} : Rows{}; }

Answer plain_take(const Args& args, LeaseFunctions& functions) {
  return rows_if(functions.plain_take(text_of(args[0]), text_of(args[1]), time_of(args[2])), args);
}

Answer plain_extend(const Args& args, LeaseFunctions& functions) {
  return rows_if(functions.plain_extend(text_of(args[0]), text_of(args[1]), time_of(args[2])),
                 args);
}

Answer plain_release(const Args& args, LeaseFunctions& functions) {
  return rows_if(functions.plain_release(text_of(args[0]), text_of(args[1])), args);
}

struct Function {
  const Statement* statement;
  /// Of each argument: `n` a number, `N` one or NULL, `t` text.
  std::string_view types;
  Answer (*run)(const Args&, LeaseFunctions&);
};

constexpr std::array kFunctions{
    Function{&kAcquireStatement, "ttnttnNt", &acquire},
    Function{&kConfirmStatement, "tt", &confirm},
    Function{&kRenewStatement, "tttnN", &renew},
    Function{&kReleaseStatement, "ttN", &release},
    Function{&kRefreshStatement, "ttttttN", &refresh},
    Function{&kInspectStatement, "t", &inspect},
    Function{&kListStatement, "t", &list},
    Function{&kBreakStatement, "tt", &end_by_force},
    Function{&kExtendStatement, "ttn", &extend},
    Function{&kPlainTakeStatement, "ttn", &plain_take},
    Function{&kPlainExtendStatement, "ttn", &plain_extend},
    Function{&kPlainReleaseStatement, "tt", &plain_release},
};

}  // namespace

std::optional<std::int64_t> number_of(const Value& value) {
  return value ? parse_decimal<std::int64_t>(*value) : std::nullopt;
}

Refusal bad_number(const Value& value) {
  return {.sqlstate = "22P02",
          .message = "invalid input syntax for type bigint: \"" + value.value_or("") + "\""};
}

Answer answer_of(const Call& call, LeaseFunctions& functions) {
  for (const Function& function : kFunctions) {
    if (function.statement->name != call.statement->name) continue;
    if (call.args.size() != function.types.size()) {
      return Refusal{.sqlstate = "08P01", .message = "bind message supplies other parameters"};
    }
    for (std::size_t i = 0; i < function.types.size(); ++i) {
      const bool may_be_null = function.types[i] != 'n';
      if (function.types[i] == 't' || (may_be_null && !call.args[i])) continue;
      if (!number_of(call.args[i])) return bad_number(call.args[i]);
    }
    return function.run(call.args, functions);
  }
  return Refusal{.sqlstate = "42883", .message = "function does not exist"};
}

}  // namespace holdfast::sim
