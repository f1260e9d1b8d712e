#include "core/fence.h"
#include "core/limits.h"
#include "engines/postgres/bytea.h"
#include "engines/postgres/callers/caller_error.h"

namespace holdfast::postgres {
namespace {

StoreError senseless() { return {Errc::corrupt, "the schema's answer makes no sense"}; }

/// The one value of the one row.
Result<std::string, StoreError> only(const Result<Rows, SqlError>& rows) {
  if (!rows) return Unexpected{to_store_error(rows.error())};
  if (rows->size() != 1 || rows->front().size() != 1 || !rows->front()[0]) {
    return Unexpected{senseless()};
  }
  return *rows->front()[0];
}

std::string text(Token token) { return std::to_string(token.value()); }

/// Empty: it is ours to run.
Result<std::optional<OnceResult>, StoreError> begin_once(Transaction& transaction,
                                                         std::string_view key,
                                                         Millis keep) {
  const auto rows =
      transaction.run("SELECT status, encode(result, 'hex') FROM holdfast.once_begin($1, $2)",
                      {std::string{key}, std::to_string(keep.count())});
  if (!rows) return Unexpected{to_store_error(rows.error())};
  if (rows->size() != 1 || rows->front().size() != 2) return Unexpected{senseless()};
  const Row& row = rows->front();
  if (!row[0]) return std::optional<OnceResult>{};
  const auto bytes = to_bytes(row[1].value_or(""));
  if (!bytes) return Unexpected{senseless()};
  return std::optional{OnceResult{.status = std::stoi(*row[0]), .bytes = *bytes}};
}

}  // namespace

Result<std::uint64_t, StoreError> fence_open(Transaction& transaction,
                                             std::string_view resource,
                                             const Sequencer& holder) {
  const auto checked = core::to_holder(holder);
  if (!checked) return Unexpected{checked.error()};
  const auto sequence = only(transaction.run("SELECT holdfast.fence_open($1, $2, $3, $4, $5, NULL)",
                                             {std::string{resource},
                                              text(checked->token),
                                              checked->owner_fp,
                                              std::string{to_string(checked->mode)},
                                              checked->domain}));
  if (!sequence) return Unexpected{sequence.error()};
  return std::stoull(*sequence);
}

Result<Applied, StoreError> fence_check(Transaction& transaction,
                                        std::string_view resource,
                                        const Sequencer& holder,
                                        std::optional<std::uint64_t> sequence) {
  const auto checked = core::to_holder(holder);
  if (!checked) return Unexpected{checked.error()};
  const Value number = sequence ? Value{std::to_string(*sequence)} : std::nullopt;
  const auto word = only(
      transaction.run("SELECT holdfast.fence_check($1, $2, $3, $4)",
                      {std::string{resource}, text(checked->token), number, checked->owner_fp}));
  if (!word) return Unexpected{word.error()};
  return *word == "duplicate" ? Applied::duplicate : Applied::applied;
}

Result<OnceReport, StoreError> once(Transaction& transaction,
                                    std::string_view key,
                                    const std::function<Result<OnceResult>()>& function,
                                    const XactOnceOptions& options) {
  if (auto good = core::check_key(key); !good) return Unexpected{good.error()};
  auto before = begin_once(transaction, key, options.keep);
  if (!before) return Unexpected{std::move(before).error()};
  if (*before) return OnceReport{.result = **std::move(before), .ran = Ran::before};
  auto made = function();
  if (!made) return Unexpected{StoreError{std::move(made).error()}};
  const auto settled =
      transaction.run("SELECT holdfast.once_settle($1, $2, $3)",
                      {std::string{key}, std::to_string(made->status), to_bytea(made->bytes)});
  if (!settled) return Unexpected{to_store_error(settled.error())};
  return OnceReport{.result = *std::move(made), .ran = Ran::here};
}

}  // namespace holdfast::postgres
