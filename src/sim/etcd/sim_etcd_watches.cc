#include "sim/etcd/sim_etcd_watches.h"

#include <algorithm>
#include <utility>

namespace holdfast::sim {
namespace {

using namespace etcd;
using namespace std::chrono_literals;
using Shared = std::shared_ptr<SimEtcdWatches>;
using One = std::shared_ptr<SimEtcdWatches::One>;
using Stream = std::shared_ptr<SimEtcdWatches::Stream>;

constexpr Duration kHeartbeat = 1s;

// From where the watch goes on if it is interrupted now.
Revision after(const SimEtcdWatches::One& one, const WatchNews& news) {
  switch (news.kind) {
    case WatchNews::Kind::changes:
      return news.changes.back().entry.modified + 1;
    case WatchNews::Kind::watching:
      return one.next != 0 ? one.next : news.header.revision + 1;
    case WatchNews::Kind::compacted:
      return news.header.revision + 1;
    case WatchNews::Kind::refused:
      break;
  }
  return one.next;
}

void tell(const Shared& to, const One& one, const WatchNews& news) {
  if (one->over) return;
  one->next = after(*one, news);
  to->route->env.post([one, news] {
    if (!one->over) one->on_watch(news);
  });
}

void hear(const Shared& to, const Stream& stream, std::uint64_t number, One one, WatchNews news) {
  if (to->stream != stream) return;
  stream->early.try_emplace(number, std::move(one), std::move(news));
  for (auto first = stream->early.begin();
       first != stream->early.end() && first->first == stream->heard + 1;
       first = stream->early.begin()) {
    ++stream->heard;
    tell(to, first->second.first, first->second.second);
    stream->early.erase(first);
  }
}

void say(const Shared& to, const Stream& stream, const One& one, WatchNews news) {
  auto at_client = [to, stream, number = ++stream->said, one, news = std::move(news)]() mutable {
    hear(to, stream, number, one, news);
  };
  const SimEtcdRoute& route = *to->route;
  route.network.carry(route.host(stream->member),
                      route.ends.client,
                      Direction::reply,
                      kOfNoRequest,
                      std::move(at_client));
}

/// What the client asks of the member for one watch.
struct Asked {
  One one;
  Revision from;
};

void begin_at_member(const Shared& to, const Stream& stream, const Asked& asked) {
  EtcdCluster& cluster = to->route->cluster;
  const auto known = stream->watchers.find(asked.one->id);
  if (known != stream->watchers.end()) return;
  const auto news = [&cluster, member = stream->member](WatchNews::Kind kind, Revision revision) {
    return WatchNews{.kind = kind, .header = cluster.header(member, revision)};
  };
  auto receive = [to, stream, one = asked.one, news](Revision revision,
                                                     const std::vector<Change>& changes) {
    WatchNews told = news(WatchNews::Kind::changes, revision);
    told.changes = changes;
    say(to, stream, one, std::move(told));
  };
  Watch watch = asked.one->watch;
  watch.from = asked.from;
  EtcdModel::Begun begun = cluster.watch(stream->member, std::move(watch), receive);
  stream->watchers.emplace(asked.one->id, begun.id);
  if (begun.compacted) {
    say(to, stream, asked.one, news(WatchNews::Kind::compacted, begun.revision));
  }
  say(to, stream, asked.one, news(WatchNews::Kind::watching, begun.revision));
  if (!begun.past.empty()) receive(begun.revision, begun.past);
}

bool all_stand(const EtcdCluster& cluster, const SimEtcdWatches::Stream& stream) {
  return std::ranges::all_of(stream.watchers,
                             [&](const auto& one) { return cluster.watches(one.second); });
}

void arrive(const Shared& to, const Stream& stream, const std::vector<Asked>& asked) {
  const SimEtcdRoute& route = *to->route;
  if (to->stream != stream) return;
  const EtcdCluster::Reception reception = route.cluster.receive(stream->member);
  if (reception == EtcdCluster::Reception::vanishes) return;
  // A stream that was cut is not resumed.
  const bool sound = reception == EtcdCluster::Reception::runs && all_stand(route.cluster, *stream);
  if (sound) {
    for (const Asked& one : asked) {
      if (!one.one->over) begin_at_member(to, stream, one);
    }
  }
  auto at_client = [stream, sound, said = stream->said] {
    stream->answered = true;
    stream->known_said = std::max(stream->known_said, said);
    stream->broken = stream->broken || !sound;
  };
  route.network.carry(route.host(stream->member),
                      route.ends.client,
                      Direction::reply,
                      kOfNoRequest,
                      std::move(at_client));
}

void ask(const Shared& to, const Stream& stream, const std::vector<One>& watches) {
  std::vector<Asked> asked;
  for (const One& one : watches) asked.push_back({one, one->next});
  stream->answered = false;
  const SimEtcdRoute& route = *to->route;
  auto at_member = [to, stream, asked = std::move(asked)] { arrive(to, stream, asked); };
  route.network.carry(route.ends.client,
                      route.host(stream->member),
                      Direction::request,
                      kOfNoRequest,
                      std::move(at_member));
}

void end_stream(SimEtcdWatches& of) {
  if (!of.stream) return;
  for (const auto& [id, watcher] : of.stream->watchers) of.route->cluster.unwatch(watcher);
  of.stream.reset();
}

void begin_stream(const Shared& to) {
  to->stream = std::make_shared<SimEtcdWatches::Stream>();
  to->stream->member = to->route->asks;
}

void look(const Shared& to) {
  SimEtcdWatches::Stream& stream = *to->stream;
  if (stream.broken || !stream.answered || stream.heard < stream.known_said) {
    to->route->leave(stream.member);
    end_stream(*to);
    begin_stream(to);
  }
  ask(to, to->stream, to->watches);
}

Task<void> keep_up(Shared to) {
  while (!to->watches.empty()) {
    co_await to->route->env.sleep_for(kHeartbeat);
    if (!to->watches.empty()) look(to);
  }
  end_stream(*to);
  to->kept_up = false;
}

Task<void> begin(Shared to, One one) {
  if (one->over) co_return;
  if (!to->stream) begin_stream(to);
  const std::vector<One> only(1, one);
  ask(to, to->stream, only);
}

}  // namespace

WatchId begin_watch(const Shared& to, Watch watch, OnWatch on_watch) {
  const WatchId id{++to->last_id};
  const Revision from = watch.from;
  to->watches.push_back(std::make_shared<SimEtcdWatches::One>(SimEtcdWatches::One{
      .id = id, .watch = std::move(watch), .on_watch = std::move(on_watch), .next = from}));
  to->route->env.spawn(begin(to, to->watches.back()));
  if (!std::exchange(to->kept_up, true)) to->route->env.spawn(keep_up(to));
  return id;
}

void end_watch(SimEtcdWatches& of, WatchId id) {
  std::erase_if(of.watches, [&](const One& one) {
    if (one->id != id) return false;
    one->over = true;
    return true;
  });
  if (!of.stream) return;
  const auto known = of.stream->watchers.find(id);
  if (known == of.stream->watchers.end()) return;
  of.route->cluster.unwatch(known->second);
  of.stream->watchers.erase(known);
}

void end_all(SimEtcdWatches& of) {
  for (const One& one : of.watches) one->over = true;
  of.watches.clear();
  end_stream(of);
}

}  // namespace holdfast::sim
