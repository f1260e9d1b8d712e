#include "engines/postgres/store/store_call.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "engines/postgres/bytea.h"

namespace holdfast::postgres {
namespace {

using Values = std::vector<Value>;

// However the database is set to write bytes, hexadecimal digits are read the same.
#define HOLDFAST_STORE_SELECT                                                                \
  "SELECT r.word, r.first, r.second, r.third, r.fourth, encode(r.value, 'hex'), r.message, " \
  "r.settled FROM holdfast."

constexpr Statement kOpen{"holdfast_store_open",
                          HOLDFAST_STORE_SELECT "store_open($1, $2, $3, $4, $5, $6, $7) r"};
constexpr Statement kRead{"holdfast_store_read",
                          HOLDFAST_STORE_SELECT "store_read($1, $2, $3, $4, $5, $6, $7, $8) r"};
constexpr Statement kWrite{"holdfast_store_write",
                           HOLDFAST_STORE_SELECT
                           "store_write($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) r"};
constexpr Statement kGet{"holdfast_store_get", HOLDFAST_STORE_SELECT "store_get($1, $2) r"};
constexpr Statement kPut{"holdfast_store_put",
                         HOLDFAST_STORE_SELECT "store_put($1, $2, $3, $4, $5, $6) r"};
constexpr Statement kRebase{"holdfast_store_rebase",
                            HOLDFAST_STORE_SELECT "store_rebase($1, $2, $3, $4, $5, $6) r"};

#undef HOLDFAST_STORE_SELECT

/// What one attempt adds.
struct Marks {
  Value id;
  Value age_us{};
};

template <class Number>
Value number(const std::optional<Number>& given) {
  if (!given) return std::nullopt;
  return std::to_string(*given);
}

Value number(const std::optional<Version>& version) {
  if (!version) return std::nullopt;
  return std::to_string(version->value());
}

Value truth(core::Opened opened) { return opened == core::Opened::before ? "t" : "f"; }

Value word(const std::optional<WritePolicy>& policy) {
  if (!policy) return std::nullopt;
  return *policy == WritePolicy::strict ? "strict" : "many";
}

void add(Values& values, const core::Holder& holder) {
  values.emplace_back(holder.domain);
  values.emplace_back(std::string{to_string(holder.mode)});
  values.emplace_back(std::to_string(holder.token.value()));
  values.emplace_back(holder.owner_fp);
}

const Statement* fill(Values& values, const OpenResource& open, const Marks&, const StoreTicket&) {
  add(values, open.holder);
  values.push_back(word(open.options.policy));
  return &kOpen;
}

const Statement* fill(Values& values, const ReadResource& read, const Marks&, const StoreTicket&) {
  add(values, read.holder);
  values.push_back(number(read.sequence));
  values.push_back(truth(read.opened));
  return &kRead;
}

const Statement* fill(Values& values,
                      const WriteResource& write,
                      const Marks& marks,
                      const StoreTicket&) {
  add(values, write.holder);
  values.push_back(write.value ? Value{to_bytea(*write.value)} : std::nullopt);
  values.push_back(number(write.sequence));
  values.push_back(truth(write.opened));
  values.push_back(write.keep ? Value{std::to_string(write.keep->count())} : std::nullopt);
  values.push_back(marks.id);
  values.push_back(marks.age_us);
  return &kWrite;
}

const Statement* fill(Values&, const GetKey&, const Marks&, const StoreTicket&) { return &kGet; }

const Statement* fill(Values& values, const PutKey& put, const Marks& marks, const StoreTicket&) {
  values.emplace_back(to_bytea(put.value));
  values.push_back(number(put.if_version));
  values.push_back(marks.id);
  values.push_back(marks.age_us);
  return &kPut;
}

const Statement* fill(Values& values,
                      const EraseKey& erase,
                      const Marks& marks,
                      const StoreTicket&) {
  values.emplace_back(std::nullopt);
  values.push_back(number(erase.if_version));
  values.push_back(marks.id);
  values.push_back(marks.age_us);
  return &kPut;
}

const Statement* fill(Values& values,
                      const RebaseResource& rebase,
                      const Marks& marks,
                      const StoreTicket& ticket) {
  values.emplace_back(rebase.domain);
  values.emplace_back(rebase.why);
  values.emplace_back(ticket.who);
  values.push_back(marks.id);
  return &kRebase;
}

}  // namespace

Call to_call(const StoreRequest& request,
             std::string_view prefix,
             const StoreTicket& ticket,
             core::Attempt attempt) {
  // PostgreSQL's numbers have a sign; 0 is nobody's request.
  constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();
  Marks marks{.id = std::to_string(std::max<std::uint64_t>(ticket.id & kLargest, 1))};
  if (attempt == core::Attempt::repeated) {
    // The server's clock need not go as ours does.
    const auto age = std::chrono::microseconds{2 * ticket.timeout};
    marks.age_us = std::to_string(age.count());
  }
  Call call{
      .statement = nullptr,
      .args = {request.space == Space::once ? "once" : "value", std::string{prefix} + request.key}};
  call.statement =
      std::visit([&](const auto& operation) { return fill(call.args, operation, marks, ticket); },
                 request.operation);
  return call;
}

}  // namespace holdfast::postgres
