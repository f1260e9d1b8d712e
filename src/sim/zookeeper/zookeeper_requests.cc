// What members of a model ensemble do with what clients ask of them.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/zookeeper/zookeeper_ensemble.h"

namespace holdfast::sim {
namespace {

using namespace zookeeper;
using What = SessionEvent::Change;

std::string password_of(SessionId id) {
  Chance chance{static_cast<std::uint64_t>(id.number)};
  return fmt::format("{:016x}", chance.draw());
}

bool reads(const Request& request) {
  return std::holds_alternative<Read>(request) || std::holds_alternative<Exists>(request) ||
         std::holds_alternative<List>(request);
}

void note_watch(ZookeeperConnection& of, const Request& request, Verdict verdict) {
  const bool there = verdict == Verdict::done;
  if (const auto* read = std::get_if<Read>(&request)) {
    if (there && read->watching == Watching::yes) of.data_watches.insert(read->path);
  } else if (const auto* exists = std::get_if<Exists>(&request)) {
    if (exists->watching == Watching::yes) of.data_watches.insert(exists->path);
  } else if (const auto* list = std::get_if<List>(&request)) {
    if (there && list->watching == Watching::yes) of.child_watches.insert(list->path);
  }
}

bool takes_watch(ZookeeperConnection& from, const ZookeeperTree::Change& change) {
  const bool children = change.what == What::children || change.what == What::erased;
  const bool data = change.what != What::children;
  const bool had_data = data && from.data_watches.erase(change.path) > 0;
  const bool had_children = children && from.child_watches.erase(change.path) > 0;
  return had_data || had_children;
}

}  // namespace

void ZookeeperEnsemble::say(const ZookeeperConnectionPtr& to, ZookeeperWord word) const {
  if (!to->open) return;
  word.zxid = members_[to->member].zxid;
  to->say(std::move(word));
}

void ZookeeperEnsemble::hang_up(const ZookeeperConnectionPtr& from) {
  from->open = false;
  from->say = nullptr;
  std::erase(members_[from->member].connections, from);
}

void ZookeeperEnsemble::close(const ZookeeperConnectionPtr& connection, const std::string& why) {
  say(connection, {.what = ZookeeperClosed{why}});
  hang_up(connection);
}

ZookeeperConnectionPtr ZookeeperEnsemble::connect(std::size_t index,
                                                  const ZookeeperHello& hello,
                                                  std::function<void(ZookeeperWord)> say_it) {
  Member& member = members_.at(index);
  const auto made = std::make_shared<ZookeeperConnection>(
      ZookeeperConnection{.member = index,
                          .say = std::move(say_it),
                          .timeout = std::clamp(hello.timeout, kTimeoutMin, kTimeoutMax)});
  member.connections.push_back(made);
  if (!member.up || member.role == Role::looking) {
    close(made, "it has no leader");
  } else if (hello.seen > member.zxid) {
    close(made, "it is behind what the session has seen");
  } else if (hello.resume) {
    made->key = *hello.resume;
    resume(made);
  } else {
    made->key.id = {++last_session_};
    made->key.password = password_of(made->key.id);
    ask_leader(made, {.by = made->key.id, .what = Opening{made->timeout}, .from = made});
  }
  return made;
}

void ZookeeperEnsemble::welcome(const ZookeeperConnectionPtr& to, Millis timeout) {
  say(to, {.what = ZookeeperWelcome{.key = to->key, .timeout = timeout}});
  if (timeout == Millis{0}) hang_up(to);
}

void ZookeeperEnsemble::resume(const ZookeeperConnectionPtr& from) {
  const std::size_t member = from->member;
  const SessionId id = from->key.id;
  if (from->key.password != password_of(id)) return welcome(from, Millis{0});
  for (const auto& other : std::vector{members_[member].connections}) {
    if (other != from && other->key.id == id) close(other, "the session has moved");
  }
  const auto move_at = [this, id, member, timeout = from->timeout](std::size_t leader) {
    const bool there = members_[leader].sessions.move(id, timeout, now_at(leader), member);
    return there ? timeout : Millis{0};
  };
  if (members_[member].role == Role::leading) return welcome(from, move_at(member));
  to_leader(member, [this, from, member, move_at] {
    const Millis timeout = move_at(members_[member].leader);
    to_follower(member, [this, from, timeout] { welcome(from, timeout); });
  });
}

bool ZookeeperEnsemble::touch(const ZookeeperConnectionPtr& from) {
  if (!from->open) return false;
  Member& member = members_[from->member];
  if (member.role != Role::leading) {
    member.heard.insert(from->key.id);
    return true;
  }
  if (member.sessions.touch(from->key.id, now_at(from->member))) return true;
  close(from, "the session has expired");
  return false;
}

void ZookeeperEnsemble::ping(const ZookeeperConnectionPtr& from) {
  if (touch(from)) say(from, {.what = ZookeeperPong{}});
}

void ZookeeperEnsemble::receive(const ZookeeperConnectionPtr& from,
                                std::uint64_t number,
                                SharedRequest request) {
  if (!touch(from)) return;
  from->waiting.push_back({.number = number, .request = request});
  if (!reads(*request)) {
    ask_leader(from,
               {.by = from->key.id, .what = std::move(request), .from = from, .number = number});
  }
  answer_ready(from);
}

void ZookeeperEnsemble::end_session(const ZookeeperConnectionPtr& from) {
  if (touch(from)) ask_leader(from, {.by = from->key.id, .what = Closing{}, .from = from});
}

void ZookeeperEnsemble::ask_leader(const ZookeeperConnectionPtr& from, Entry entry) {
  const std::size_t member = from->member;
  if (members_[member].role == Role::leading) return at_leader(member, std::move(entry));
  to_leader(member, [this, member, entry = std::move(entry)] {
    at_leader(members_[member].leader, entry);
  });
}

void ZookeeperEnsemble::at_leader(std::size_t leader, Entry entry) {
  using Standing = ZookeeperSessions::Standing;
  const std::size_t member = entry.from->member;
  ZookeeperSessions& sessions = members_[leader].sessions;
  if (const auto* opening = std::get_if<Opening>(&entry.what)) {
    sessions.add(entry.by, opening->timeout, now_at(leader), member);
    plan_expiry(leader);
    return propose(leader, std::move(entry));
  }
  const Standing standing = sessions.check(entry.by, member);
  if (standing == Standing::fine) {
    const auto* request = std::get_if<SharedRequest>(&entry.what);
    if (request != nullptr && std::holds_alternative<Sync>(**request)) {
      return answer_sync(leader, entry);
    }
    return propose(leader, std::move(entry));
  }
  const std::string why =
      standing == Standing::moved ? "the session has moved" : "the session has expired";
  if (member == leader) return close(entry.from, why);
  to_follower(member, [this, from = entry.from, why] { close(from, why); });
}

// A leader answers without asking anybody, unless it waits for a majority.
void ZookeeperEnsemble::answer_sync(std::size_t leader, const Entry& entry) {
  if (!members_[leader].pending.empty()) return;
  const std::size_t member = entry.from->member;
  if (member == leader) return complete(entry.from, entry.number, {});
  to_follower(member, [this, member, from = entry.from, number = entry.number] {
    when_learnt(member, [this, from, number] { complete(from, number, {}); });
  });
}

void ZookeeperEnsemble::propose(std::size_t leader, Entry entry) {
  if (leads(leader) && members_[leader].pending.empty() && has_majority(leader)) {
    commit(leader, std::move(entry));
  } else {
    members_[leader].pending.push_back(std::move(entry));
  }
}

void ZookeeperEnsemble::commit(std::size_t leader, Entry entry) {
  constexpr int kCounterBits = 32;
  entry.zxid = (epoch_ << kCounterBits) + ++counted_;
  entry.at = std::chrono::floor<Millis>(kWallEpoch + now_at(leader));
  if (const auto* opening = std::get_if<Opening>(&entry.what)) {
    sessions_[entry.by] = opening->timeout;
  } else if (std::holds_alternative<Closing>(entry.what)) {
    sessions_.erase(entry.by);
    members_[leader].sessions.remove(entry.by);
  }
  log_.push_back(std::move(entry));
  learn(leader, log_.size());
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Member& one = members_[i];
    if (one.role != Role::following || one.epoch != epoch_) continue;
    to_follower(i, [this, i, entries = log_.size()] {
      when_learnt(i, [this, i, entries] { learn(i, entries); });
    });
  }
}

void ZookeeperEnsemble::learn(std::size_t member, std::size_t entries) {
  while (members_[member].seen < entries) learn_one(member, log_[members_[member].seen++]);
}

void ZookeeperEnsemble::learn_one(std::size_t index, const Entry& entry) {
  Member& member = members_[index];
  member.zxid = entry.zxid;
  const bool asked_here = entry.from && entry.from->member == index && entry.from->open;
  if (std::holds_alternative<Opening>(entry.what)) {
    if (asked_here) welcome(entry.from, entry.from->timeout);
  } else if (std::holds_alternative<Closing>(entry.what)) {
    tell_watches(index, member.tree.end_session(entry.by, entry.zxid));
    for (const auto& connection : std::vector{member.connections}) {
      if (connection->key.id == entry.by) close(connection, "the session has ended");
    }
  } else {
    const Request& request = *std::get<SharedRequest>(entry.what);
    ZookeeperTree::Outcome outcome = member.tree.apply(request, entry.by, entry.zxid, entry.at);
    tell_watches(index, outcome.changes);
    if (asked_here) complete(entry.from, entry.number, std::move(outcome.answer));
  }
}

void ZookeeperEnsemble::tell_watches(std::size_t index,
                                     const std::vector<ZookeeperTree::Change>& changes) {
  for (const ZookeeperTree::Change& change : changes) {
    for (const auto& connection : members_[index].connections) {
      if (takes_watch(*connection, change)) say(connection, {.what = ZookeeperNews{change}});
    }
  }
}

void ZookeeperEnsemble::complete(const ZookeeperConnectionPtr& from,
                                 std::uint64_t number,
                                 Answer answer) {
  for (ZookeeperConnection::Waiting& one : from->waiting) {
    if (one.number == number) one.answer = std::move(answer);
  }
  answer_ready(from);
}

void ZookeeperEnsemble::answer_ready(const ZookeeperConnectionPtr& to) {
  while (!to->waiting.empty()) {
    ZookeeperConnection::Waiting& first = to->waiting.front();
    if (reads(*first.request)) {
      first.answer = members_[to->member].tree.look(*first.request);
      note_watch(*to, *first.request, first.answer->verdict);
    }
    if (!first.answer) return;
    say(to, {.what = ZookeeperReply{.number = first.number, .answer = *std::move(first.answer)}});
    to->waiting.pop_front();
  }
}

void ZookeeperEnsemble::watch_again(const ZookeeperConnectionPtr& from,
                                    const ZookeeperWatches& watches,
                                    Zxid since) {
  if (!touch(from)) return;
  const ZookeeperTree& tree = members_[from->member].tree;
  const auto tell = [&](const std::string& path, What what) {
    say(from, {.what = ZookeeperNews{{path, what}}});
  };
  for (const std::string& path : watches.data) {
    const NodeStat* node = tree.find(path);
    if (node == nullptr) {
      tell(path, What::erased);
    } else if (node->modified > since) {
      tell(path, What::data);
    } else {
      from->data_watches.insert(path);
    }
  }
  for (const std::string& path : watches.missing) {
    if (tree.has(path)) {
      tell(path, What::created);
    } else {
      from->data_watches.insert(path);
    }
  }
  for (const std::string& path : watches.children) {
    const NodeStat* node = tree.find(path);
    if (node == nullptr) {
      tell(path, What::erased);
    } else if (node->children_modified > since) {
      tell(path, What::children);
    } else {
      from->child_watches.insert(path);
    }
  }
}

void ZookeeperEnsemble::unwatch(const ZookeeperConnectionPtr& from, const std::string& path) {
  from->data_watches.erase(path);
  from->child_watches.erase(path);
}

}  // namespace holdfast::sim
