#include "engines/etcd/driver/watch_line.h"

#include <algorithm>
#include <utility>

namespace holdfast::etcd {
namespace {

using Kind = WatchNews::Kind;

/// The callback may end the watch that it belongs to, and is held here meanwhile.
void tell(std::shared_ptr<OnWatch> on_watch, const WatchNews& news) { (*on_watch)(news); }

}  // namespace

WatchLine::WatchLine(
    Env& env, Route& route, CompletionLoop& loop, Cancellables& calls, Duration patience)
    : env_{env},
      route_{route},
      loop_{loop},
      calls_{calls},
      patience_{patience},
      confirm_timer_{env, [this] { leave_a_silent_server(); }} {
  route_.add_user(*this);
}

WatchId WatchLine::watch(Watch watch, OnWatch on_watch) {
  const Number number = ++last_number_;
  Entry entry{.watch = std::move(watch),
              .on_watch = std::make_shared<OnWatch>(std::move(on_watch))};
  Entry& kept = entries_.emplace(number, std::move(entry)).first->second;
  if (stream_) {
    create(number, kept);
  } else if (route_.is_ready()) {
    open();
  } else {
    route_.want();
  }
  return {number};
}

void WatchLine::unwatch(WatchId id) {
  const auto at = entries_.find(id.number);
  if (at == entries_.end()) return;
  const std::int64_t wire_id = at->second.wire_id;
  entries_.erase(at);
  if (wire_id == 0 || !stream_) return;
  by_wire_id_.erase(wire_id);
  wire::WatchRequest request;
  request.mutable_cancel_request()->set_watch_id(wire_id);
  stream_->write(std::move(request));
}

void WatchLine::on_ready() {
  if (!stream_ && !entries_.empty()) open();
}

void WatchLine::open() {
  place_ = route_.attempt();
  stream_ = std::make_shared<Line>(*this);
  calls_.push_back(*stream_);
  route_.sign(stream_->context());
  stream_->open(place_.channel, kWatchMethod, loop_.queue());
  for (auto& [number, entry] : entries_) create(number, entry);
}

void WatchLine::create(Number number, Entry& entry) {
  entry.wire_id = ++last_wire_id_;
  by_wire_id_[entry.wire_id] = number;
  unconfirmed_.push_back({entry.wire_id, env_.now() + patience_});
  confirm_timer_.set(unconfirmed_.front().due);
  wire::WatchRequest request;
  *request.mutable_create_request() = to_wire(entry.watch);
  request.mutable_create_request()->set_watch_id(entry.wire_id);
  stream_->write(std::move(request));
  ++created_;
}

void WatchLine::drop_stream() {
  if (stream_) std::exchange(stream_, nullptr)->leave();
  by_wire_id_.clear();
  unconfirmed_.clear();
  for (auto& [number, entry] : entries_) {
    entry.wire_id = 0;
    entry.parts.clear();
  }
}

void WatchLine::on_moved(const Error&) { drop_stream(); }

void WatchLine::on_end(const grpc::Status& status) {
  stream_.reset();
  drop_stream();
  const Failure failure = failure_of(place_.endpoint, status);
  if (failure.fate == Failure::Fate::refused) return refuse_all(failure.error.message);
  if (failure.fate == Failure::Fate::token && route_.has_credentials()) {
    route_.renew_token(place_.token_number);
  } else {
    route_.doubt(place_.visit, failure.error);
  }
  // The route may have moved on before this stream ended.
  if (route_.is_ready()) on_ready();
}

void WatchLine::leave_a_silent_server() {
  if (!loop_.is_open() || unconfirmed_.empty()) return;
  const TimePoint due = unconfirmed_.front().due;
  if (env_.now() < due) return confirm_timer_.set(due);
  const Error why = error_at(place_.endpoint, Errc::unavailable, "a watch was not confirmed");
  drop_stream();
  route_.doubt(place_.visit, why);
  if (route_.is_ready()) on_ready();
}

void WatchLine::on_message(wire::WatchResponse& message) {
  route_.hear();
  if (message.created()) confirm(message);
  const auto at = find(message);
  if (at == entries_.end()) return;
  if (message.canceled()) return on_cancelled(at, message);
  if (message.created()) return on_created(at, from_wire(message.header()));
  on_events(at, message);
}

// A watch that is refused at once may come back without its id.
void WatchLine::confirm(wire::WatchResponse& message) {
  if (unconfirmed_.empty()) return;
  auto at = std::ranges::find(unconfirmed_, message.watch_id(), &Unconfirmed::wire_id);
  if (at == unconfirmed_.end()) at = unconfirmed_.begin();
  message.set_watch_id(at->wire_id);
  unconfirmed_.erase(at);
}

WatchLine::Entries::iterator WatchLine::find(const wire::WatchResponse& message) {
  const auto number = by_wire_id_.find(message.watch_id());
  return number == by_wire_id_.end() ? entries_.end() : entries_.find(number->second);
}

void WatchLine::on_created(Entries::iterator at, const Header& header) {
  Entry& entry = at->second;
  entry.was_denied = false;
  if (entry.watch.from == 0) entry.watch.from = header.revision + 1;
  tell(entry.on_watch, {.kind = Kind::watching, .header = header});
}

void WatchLine::on_cancelled(Entries::iterator at, const wire::WatchResponse& message) {
  by_wire_id_.erase(at->second.wire_id);
  at->second.wire_id = 0;
  if (message.compact_revision() > 0) return on_compacted(at, message);
  if (message.cancel_reason().empty()) {
    // The server is about to end.
    drop_stream();
    const Error why = error_at(place_.endpoint, Errc::unavailable, "a watch was ended");
    route_.doubt(place_.visit, why);
    if (route_.is_ready()) on_ready();
    return;
  }
  // A token that is not good any more is told as a right that is missing.
  if (route_.has_credentials() && !at->second.was_denied) {
    at->second.was_denied = true;
    drop_stream();
    route_.renew_token(place_.token_number);
    if (route_.is_ready()) on_ready();
    return;
  }
  refuse(at, error_at(place_.endpoint, Errc::denied, message.cancel_reason()).message);
}

void WatchLine::on_compacted(Entries::iterator at, const wire::WatchResponse& message) {
  const Number number = at->first;
  at->second.watch.from = message.compact_revision();
  Header header = from_wire(message.header());
  header.revision = message.compact_revision();
  tell(at->second.on_watch, {.kind = Kind::compacted, .header = header});
  const auto still = entries_.find(number);
  if (still != entries_.end() && stream_ && still->second.wire_id == 0) {
    create(number, still->second);
  }
}

void WatchLine::on_events(Entries::iterator at, wire::WatchResponse& message) {
  Entry& entry = at->second;
  const Header header = from_wire(message.header());
  if (message.events().empty()) {
    // How far the server is, from time to time.
    entry.watch.from = std::max(entry.watch.from, header.revision + 1);
    return;
  }
  for (wire::Event& event : *message.mutable_events()) entry.parts.push_back(from_wire(event));
  if (message.fragment()) return;
  WatchNews news{
      .kind = Kind::changes, .header = header, .changes = std::exchange(entry.parts, {})};
  entry.watch.from = news.changes.back().entry.modified + 1;
  tell(entry.on_watch, news);
}

void WatchLine::refuse(Entries::iterator at, const std::string& why) {
  const auto on_watch = at->second.on_watch;
  entries_.erase(at);
  tell(on_watch, {.kind = Kind::refused, .text = why});
}

void WatchLine::refuse_all(const std::string& why) {
  for (auto& [number, entry] : std::exchange(entries_, {})) {
    tell(entry.on_watch, {.kind = Kind::refused, .text = why});
  }
}

}  // namespace holdfast::etcd
