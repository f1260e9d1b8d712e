#include "engines/etcd/driver/wire.h"

#include <utility>

namespace holdfast::etcd {
namespace {

void fill(wire::Compare& out, const Compare& compare) {
  out.set_key(compare.key);
  switch (compare.is) {
    case Compare::Is::equal:
      out.set_result(wire::Compare::EQUAL);
      break;
    case Compare::Is::greater:
      out.set_result(wire::Compare::GREATER);
      break;
    case Compare::Is::less:
      out.set_result(wire::Compare::LESS);
      break;
    case Compare::Is::not_equal:
      out.set_result(wire::Compare::NOT_EQUAL);
      break;
  }
  switch (compare.what) {
    case Compare::What::created:
      out.set_target(wire::Compare::CREATE);
      return out.set_create_revision(compare.number);
    case Compare::What::modified:
      out.set_target(wire::Compare::MOD);
      return out.set_mod_revision(compare.number);
    case Compare::What::version:
      out.set_target(wire::Compare::VERSION);
      return out.set_version(compare.number);
    case Compare::What::lease:
      out.set_target(wire::Compare::LEASE);
      return out.set_lease(compare.number);
    case Compare::What::value:
      out.set_target(wire::Compare::VALUE);
      return out.set_value(compare.value);
  }
}

void fill(wire::RequestOp& out, const Range& range) {
  wire::RangeRequest& request = *out.mutable_request_range();
  request.set_key(range.keys.key);
  request.set_range_end(range.keys.end);
  request.set_limit(range.limit);
  request.set_max_create_revision(range.created_by);
  request.set_keys_only(range.part == Range::Part::keys_only);
  request.set_count_only(range.part == Range::Part::count_only);
  if (range.order == Range::Order::by_key) return;
  request.set_sort_target(wire::RangeRequest::CREATE);
  request.set_sort_order(range.order == Range::Order::oldest_first ? wire::RangeRequest::ASCEND
                                                                   : wire::RangeRequest::DESCEND);
}

void fill(wire::RequestOp& out, const Put& put) {
  wire::PutRequest& request = *out.mutable_request_put();
  request.set_key(put.key);
  request.set_value(put.value);
  request.set_lease(put.lease.number);
}

void fill(wire::RequestOp& out, const Erase& erase) {
  wire::DeleteRangeRequest& request = *out.mutable_request_delete_range();
  request.set_key(erase.keys.key);
  request.set_range_end(erase.keys.end);
}

OperationAnswer answer_of(wire::ResponseOp& response) {
  OperationAnswer answer;
  if (response.has_response_range()) {
    wire::RangeResponse& range = *response.mutable_response_range();
    answer.count = range.count();
    answer.found.reserve(static_cast<std::size_t>(range.kvs_size()));
    for (wire::KeyValue& entry : *range.mutable_kvs()) answer.found.push_back(from_wire(entry));
  } else if (response.has_response_delete_range()) {
    answer.count = response.response_delete_range().deleted();
  }
  return answer;
}

}  // namespace

wire::TxnRequest to_wire(const Txn& txn) {
  wire::TxnRequest request;
  for (const Compare& compare : txn.when) fill(*request.add_compare(), compare);
  for (const Operation& operation : txn.then) {
    std::visit([&](const auto& one) { fill(*request.add_success(), one); }, operation);
  }
  for (const Operation& operation : txn.otherwise) {
    std::visit([&](const auto& one) { fill(*request.add_failure(), one); }, operation);
  }
  return request;
}

wire::WatchCreateRequest to_wire(const Watch& watch) {
  wire::WatchCreateRequest request;
  request.set_key(watch.keys.key);
  request.set_range_end(watch.keys.end);
  request.set_start_revision(watch.from);
  // Keeps the place of a watch that hears little from falling behind compaction.
  request.set_progress_notify(true);
  request.set_fragment(true);
  if (watch.only == Watch::Only::erasures) request.add_filters(wire::WatchCreateRequest::NOPUT);
  return request;
}

Header from_wire(const wire::ResponseHeader& header) {
  return {.cluster = header.cluster_id(),
          .member = header.member_id(),
          .revision = header.revision(),
          .term = header.raft_term()};
}

KeyValue from_wire(wire::KeyValue& entry) {
  return {.key = std::move(*entry.mutable_key()),
          .value = std::move(*entry.mutable_value()),
          .created = entry.create_revision(),
          .modified = entry.mod_revision(),
          .version = entry.version(),
          .lease = {entry.lease()}};
}

TxnAnswer from_wire(wire::TxnResponse& response) {
  TxnAnswer answer{.header = from_wire(response.header()), .held = response.succeeded()};
  answer.answers.reserve(static_cast<std::size_t>(response.responses_size()));
  for (wire::ResponseOp& one : *response.mutable_responses()) {
    answer.answers.push_back(answer_of(one));
  }
  return answer;
}

Change from_wire(wire::Event& event) {
  return {.kind = event.type() == wire::Event::PUT ? Change::Kind::put : Change::Kind::erased,
          .entry = from_wire(*event.mutable_kv())};
}

}  // namespace holdfast::etcd
