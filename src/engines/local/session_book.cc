#include "engines/local/session_book.h"

#include "engines/local/pool.h"

namespace holdfast::local {

SessionBook::~SessionBook() {
  for (SessionEntry* entry = first_.load(); entry != nullptr;) {
    delete std::exchange(entry, entry->next());
  }
}

SessionEntry& SessionBook::add(Duration ttl) {
  const std::lock_guard lock{mutex_};
  if (SessionEntry* known = find(ttl)) return *known;
  auto* entry = new SessionEntry{ttl, first_.load()};
  first_.store(entry, std::memory_order_release);
  return *entry;
}

Result<Ref> SessionBook::revive(SessionEntry& entry, TimePoint now) {
  const Ref known = entry.current();
  if (known != 0) {
    const Renewal renewal = renew(file_.at<Session>(known).lifeline, now + entry.ttl());
    if (renewal == Renewal::renewed) return known;
  }
  const std::lock_guard lock{mutex_};
  if (entry.current() != known) return entry.current();
  const auto fresh = allocate(file_, Kind::session);
  if (!fresh) return fresh;
  Session& session = file_.at<Session>(*fresh);
  session.epoch.fetch_add(1);
  session.ttl_ns.store(entry.ttl().count());
  session.member.store(member_);
  begin(session.lifeline, now + entry.ttl());
  auto& sessions = file_.at<Member>(member_).sessions;
  session.next.store(sessions.load());
  sessions.store(*fresh);
  entry.current_.store(*fresh, std::memory_order_release);
  entry.dormant.store(false);
  wake_keeper_();
  return fresh;
}

void SessionBook::for_each(const std::function<void(SessionEntry&)>& visit) {
  for (SessionEntry* entry = first_.load(); entry != nullptr; entry = entry->next()) visit(*entry);
}

}  // namespace holdfast::local
