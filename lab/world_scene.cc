#include "lab/world_scene.h"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

namespace holdfast::lab {
namespace {

using sim::EventKind;
using sim::HostId;

/// Reads a trace from its beginning, and keeps what reaches into the part that is shown.
class TraceReader {
 public:
  explicit TraceReader(WorldScene& scene) : scene_{scene} {}

  void read(const WorldEvent& event);
  void finish();

 private:
  void end_holding(HostId host, std::uint64_t token, Duration at);
  void end_every_holding(HostId host, Duration at);
  void keep(Holding holding, Duration at);
  void begin(std::map<HostId, Duration>& open, HostId host, Duration at) { open.emplace(host, at); }
  void end(std::map<HostId, Duration>& open, std::vector<Stretch>& into, HostId host, Duration at);
  void send(HostId from, HostId to, std::uint64_t number, Duration at);
  void receive(const WorldEvent& event, Letter::Fate fate, Duration at);
  void read_of_client(const WorldEvent& event, Duration at);
  void read_of_fault(const WorldEvent& event, Duration at);

  WorldScene& scene_;
  std::vector<Holding> held_;
  std::map<HostId, Duration> paused_;
  std::map<HostId, Duration> down_;
  std::map<std::tuple<HostId, HostId, std::uint64_t>, std::deque<Duration>> under_way_;
};

void TraceReader::keep(Holding holding, Duration at) {
  holding.when.to = at;
  if (at < scene_.begin) return;
  holding.when.from = std::max(holding.when.from, scene_.begin);
  scene_.holdings.push_back(std::move(holding));
}

// Without a token, the lock that was held longest is meant.
void TraceReader::end_holding(HostId host, std::uint64_t token, Duration at) {
  const auto found = std::ranges::find_if(held_, [&](const Holding& holding) {
    return holding.when.host == host && (token == 0 || holding.token == token);
  });
  if (found == held_.end()) return;
  Holding holding = std::move(*found);
  held_.erase(found);
  keep(std::move(holding), at);
}

void TraceReader::end_every_holding(HostId host, Duration at) {
  const auto holds = [&](const Holding& holding) { return holding.when.host == host; };
  while (std::ranges::any_of(held_, holds)) end_holding(host, 0, at);
}

void TraceReader::end(std::map<HostId, Duration>& open,
                      std::vector<Stretch>& into,
                      HostId host,
                      Duration at) {
  const auto found = open.find(host);
  if (found == open.end()) return;
  if (at >= scene_.begin) into.push_back({host, std::max(found->second, scene_.begin), at});
  open.erase(found);
}

void TraceReader::send(HostId from, HostId to, std::uint64_t number, Duration at) {
  under_way_[{from, to, number}].push_back(at);
}

void TraceReader::receive(const WorldEvent& event, Letter::Fate fate, Duration at) {
  auto& sent = under_way_[{event.peer, event.host, event.number}];
  if (sent.empty()) return;
  const Duration since = sent.front();
  sent.pop_front();
  if (at < scene_.begin) return;
  scene_.letters.push_back(
      {event.peer, event.host, std::max(since, scene_.begin), at, fate, event.number});
}

void TraceReader::read_of_client(const WorldEvent& event, Duration at) {
  switch (event.kind) {
    case EventKind::granted:
      if (std::ranges::find(scene_.locks, event.text) == scene_.locks.end()) {
        scene_.locks.push_back(event.text);
      }
      held_.push_back({{event.host, at, at}, event.text, event.number});
      break;
    case EventKind::released:
      end_holding(event.host, event.number, at);
      break;
    case EventKind::warned: {
      const auto mine = [&](const Holding& holding) { return holding.when.host == event.host; };
      const bool clear = event.number != 0 || std::ranges::count_if(held_, mine) == 1;
      if (clear && event.text.starts_with("lost")) end_holding(event.host, event.number, at);
      break;
    }
    default:
      break;
  }
}

void TraceReader::read_of_fault(const WorldEvent& event, Duration at) {
  switch (event.kind) {
    case EventKind::paused:
      begin(paused_, event.host, at);
      break;
    case EventKind::resumed:
      end(paused_, scene_.pauses, event.host, at);
      break;
    case EventKind::crashed:
      end_every_holding(event.host, at);
      end(paused_, scene_.pauses, event.host, at);
      begin(down_, event.host, at);
      break;
    case EventKind::started:
      end(down_, scene_.outages, event.host, at);
      break;
    default:
      break;
  }
}

void TraceReader::read(const WorldEvent& event) {
  const Duration at = event.when.time_since_epoch();
  switch (event.kind) {
    case EventKind::sent:
    case EventKind::repeated:
      send(event.host, event.peer, event.number, at);
      break;
    case EventKind::arrived:
      receive(event, Letter::Fate::arrived, at);
      break;
    case EventKind::lost:
      receive(event, Letter::Fate::lost, at);
      break;
    default:
      read_of_client(event, at);
      read_of_fault(event, at);
  }
}

void TraceReader::finish() {
  for (Holding& holding : held_) keep(std::move(holding), scene_.after);
  while (!paused_.empty()) end(paused_, scene_.pauses, paused_.begin()->first, scene_.after);
  while (!down_.empty()) end(down_, scene_.outages, down_.begin()->first, scene_.after);
}

}  // namespace

WorldScene make_world_scene(const sim::SeedReport& report, std::size_t events_max) {
  WorldScene scene{.events_in_all = report.trace.size()};
  if (report.trace.empty()) return scene;
  const std::size_t skipped = report.trace.size() - std::min(events_max, report.trace.size());
  scene.events.assign(report.trace.begin() + static_cast<std::ptrdiff_t>(skipped),
                      report.trace.end());
  if (scene.events.empty()) return scene;
  scene.begin = scene.events.front().when.time_since_epoch();
  scene.end = scene.events.back().when.time_since_epoch();
  scene.after = scene.end + (scene.end - scene.begin) / 20 + Millis{1};
  TraceReader reader{scene};
  for (const WorldEvent& event : report.trace) reader.read(event);
  reader.finish();
  return scene;
}

std::vector<Conflict> conflicts(const std::vector<Holding>& holdings) {
  std::vector<Conflict> found;
  for (std::size_t i = 0; i < holdings.size(); ++i) {
    for (std::size_t j = i + 1; j < holdings.size(); ++j) {
      const Holding& one = holdings[i];
      const Holding& other = holdings[j];
      if (one.lock != other.lock || one.when.host == other.when.host) continue;
      const Duration from = std::max(one.when.from, other.when.from);
      const Duration to = std::min(one.when.to, other.when.to);
      if (from < to) found.push_back({i, j, from, to});
    }
  }
  return found;
}

}  // namespace holdfast::lab
