#include "engines/zookeeper/zookeeper_parts.h"

#include <algorithm>
#include <utility>

namespace holdfast::zookeeper {
namespace {

Error refusal(Verdict verdict, const std::string& path) {
  if (verdict == Verdict::no_children_allowed) {
    return {Errc::internal,
            path + " cannot be made: the node above it is ephemeral",
            "use another prefix"};
  }
  return {Errc::internal, path + " cannot be made"};
}

/// True: it is there now. False: what is above it is not.
Task<Result<bool>> make_node(SessionLine& line, Create create, TimePoint answer_by) {
  const std::string path = create.path;
  const SharedRequest request = share(std::move(create));
  const auto answer = co_await line.answered(request, answer_by);
  if (!answer) co_return Unexpected{answer.error()};
  if (answer->verdict == Verdict::no_node) co_return false;
  const bool there = answer->verdict == Verdict::done || answer->verdict == Verdict::node_exists;
  if (!there) co_return Unexpected{refusal(answer->verdict, path)};
  co_return true;
}

Task<void> leave_while_it_stands(std::shared_ptr<Parts> parts,
                                 Place place,
                                 std::shared_ptr<Session> session) {
  bool looked = false;
  for (std::uint32_t attempt = 0; !session->is_over(); ++attempt) {
    const TimePoint by = parts->env.now() + parts->settings.timeout;
    if (place.path.empty()) {
      const auto traced = co_await trace(*session, place, by);
      if (traced && traced->path.empty()) {
        // A server that hung may find the request of a connection that was given up behind those of
        // the next one. What it leaves then would stay for as long as the session.
        if (std::exchange(looked, true)) co_return;
        co_await parts->env.sleep_for(session->ttl());
        continue;
      }
      if (traced) place.path = traced->path;
    }
    if (!place.path.empty()) {
      const SharedRequest erase = share(Erase{.path = place.path});
      const auto answer = co_await session->line->answered(erase, by);
      if (answer) co_return;
    }
    const Duration delay = backoff_delay(parts->settings.retry, attempt, parts->env.draw());
    co_await parts->env.sleep_for(delay);
  }
}

}  // namespace

bool may_pass(Errc code) { return code == Errc::unknown_outcome || code == Errc::unavailable; }

TimePoint Parts::attempt_end(TimePoint answer_by) const {
  return std::min(answer_by, env.now() + settings.timeout);
}

Task<ReleaseOutcome> Parts::leave(Own& own, TimePoint valid_until, TimePoint answer_by) const {
  bool unsettled = false;
  const SharedRequest erase = share(Erase{.path = own.place.path});
  const auto line = own.use->line;
  for (std::uint32_t attempt = 0;; ++attempt) {
    const auto answer = co_await line->answered(erase, attempt_end(answer_by));
    if (answer && answer->verdict == Verdict::done) co_return ReleaseOutcome::released;
    const bool gone = answer || answer.error().code == Errc::lost;
    if (gone && !unsettled) co_return ReleaseOutcome::already_lost;
    if (gone) {
      // Where the session still stands, it was our own unanswered request that erased it.
      const bool by_us = env.now() < valid_until;
      co_return by_us ? ReleaseOutcome::released : ReleaseOutcome::unknown;
    }
    unsettled = unsettled || answer.error().code == Errc::unknown_outcome;
    const Duration delay = backoff_delay(settings.retry, attempt, env.draw());
    if (env.now() + delay >= answer_by) co_return ReleaseOutcome::unknown;
    co_await env.sleep_for(delay);
  }
}

void Parts::leave_at_last(const std::shared_ptr<Parts>& parts,
                          Place place,
                          std::shared_ptr<Session> session) {
  parts->env.spawn(leave_while_it_stands(parts, std::move(place), std::move(session)));
}

Task<Result<void>> make_path(SessionLine& line, std::string path, TimePoint answer_by) {
  // From the top: whatever is there already stays as it is.
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    Create create{.path = part};
    const auto made = co_await make_node(line, std::move(create), answer_by);
    if (!made) co_return Unexpected{made.error()};
    if (!*made) {
      co_return Unexpected{
          Error{Errc::not_found,
                "ZooKeeper has no node to put " + part + " under: the chroot of the URL is missing",
                "create it, or leave it out of the URL"}};
    }
    if (end == std::string::npos) co_return Result<void>{};
  }
}

Task<Result<void>> make_lock_node(SessionLine& line, std::string path, TimePoint answer_by) {
  Create create{.path = path, .kind = Create::Kind::container};
  const auto made = co_await make_node(line, create, answer_by);
  if (!made) co_return Unexpected{made.error()};
  if (*made) co_return Result<void>{};
  std::string above = parent_of(path);
  const bool top = above == "/";
  // The root itself is missing: that makes the clear error.
  if (top) above = path;
  const auto made_above = co_await make_path(line, std::move(above), answer_by);
  if (!made_above || top) co_return made_above;
  const auto again = co_await make_node(line, std::move(create), answer_by);
  if (!again) co_return Unexpected{again.error()};
  co_return Result<void>{};
}

Task<Result<Traced>> trace(Session& session, Place place, TimePoint answer_by) {
  const auto line = session.line;
  // Another server may not have heard yet of what the last one did.
  const SharedRequest sync = share(Sync{.path = place.lock});
  const SharedRequest list = share(List{.path = place.lock});
  const auto synced = co_await line->answered(sync, answer_by);
  if (!synced) co_return Unexpected{synced.error()};
  const auto listed = co_await line->answered(list, answer_by);
  if (!listed) co_return Unexpected{listed.error()};
  for (const std::string& child : listed->children) {
    const auto contender = read_contender(child);
    if (!contender || contender->id != place.id) continue;
    const std::string path = place.lock + '/' + child;
    const SharedRequest read = share(Read{.path = path});
    const auto found = co_await line->answered(read, answer_by);
    if (!found) co_return Unexpected{found.error()};
    const bool ours = found->verdict == Verdict::done && found->stat.owner == session.key().id;
    if (ours) co_return Traced{.path = path, .created = found->stat.created};
  }
  co_return Traced{};
}

}  // namespace holdfast::zookeeper
