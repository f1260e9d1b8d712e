#include "sim/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>

namespace holdfast::sim {
namespace {

struct FirstWord {
  std::string_view word;
  std::string_view rest;
};

FirstWord split(std::string_view text) {
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos) return {text, {}};
  return {text.substr(0, space), text.substr(space + 1)};
}

// Clients ask, and all others answer.
std::string message_words(HostId from, HostId to, const Event& event, const HostNames& names) {
  return fmt::format("{} → {} {} #{}",
                     names.of(from),
                     names.of(to),
                     names.is_client(from) ? "request" : "reply",
                     event.number);
}

TimelineLine of_message(const Event& event, const HostNames& names) {
  // What is on its way is told by its sender; what arrives or does not, by its receiver.
  const bool leaving = event.kind == EventKind::sent || event.kind == EventKind::repeated;
  const std::string words = leaving ? message_words(event.host, event.peer, event, names)
                                    : message_words(event.peer, event.host, event, names);
  switch (event.kind) {
    case EventKind::lost:
      return {event.when, Mood::fault, words + " lost"};
    case EventKind::repeated:
      return {event.when, Mood::fault, words + " sent twice"};
    case EventKind::arrived:
      return {event.when, Mood::quiet, words + " arrives"};
    default:
      return {event.when, Mood::quiet, words + " leaves"};
  }
}

TimelineLine of_server(const Event& event, const HostNames& names) {
  const auto [verb, rest] = split(event.text);
  const std::string_view host = names.of(event.host);
  const std::string_view peer = names.of(event.peer);
  switch (event.kind) {
    case EventKind::served:
      return {
          event.when,
          Mood::good,
          fmt::format("{} accepts {} of {}{}{}", host, verb, peer, rest.empty() ? "" : " ", rest)};
    case EventKind::found_stale:
      return {
          event.when,
          Mood::bad,
          fmt::format(
              "{} refuses {} of {}: stale{}{}", host, verb, peer, rest.empty() ? "" : ", ", rest)};
    default:
      return {event.when,
              Mood::quiet,
              fmt::format("{} runs {} of {} #{}{}{}",
                          host,
                          verb,
                          peer,
                          event.number,
                          rest.empty() ? "" : " → ",
                          rest)};
  }
}

std::string with_token(std::uint64_t token) {
  return token == 0 ? "" : fmt::format(" with token {}", token);
}

TimelineLine of_warning(const Event& event, std::string_view host) {
  const auto [state, reason] = split(event.text);
  const bool lost = state == "lost";
  const std::string why = reason.empty() || reason == "none" ? "" : fmt::format(" ({})", reason);
  return {event.when,
          lost ? Mood::bad : Mood::plain,
          lost ? fmt::format(
                     "{} is told that its lease{} is lost{}", host, with_token(event.number), why)
               : fmt::format("{} is told that its lease{} is {}{}",
                             host,
                             with_token(event.number),
                             state == "jeopardy" ? "in jeopardy" : state,
                             why)};
}

TimelineLine of_client(const Event& event, const HostNames& names) {
  const std::string_view host = names.of(event.host);
  switch (event.kind) {
    case EventKind::asked:
      return {event.when, Mood::plain, fmt::format("{} asks for {}", host, event.text)};
    case EventKind::granted:
      return {event.when,
              Mood::good,
              fmt::format("{} is granted {}{}", host, event.text, with_token(event.number))};
    case EventKind::refused: {
      const auto [code, lock] = split(event.text);
      return {event.when,
              Mood::plain,
              fmt::format("{} is refused{}{}: {}", host, lock.empty() ? "" : " ", lock, code)};
    }
    case EventKind::released:
      return {
          event.when,
          Mood::plain,
          fmt::format("{} gives up its lease{}: {}", host, with_token(event.number), event.text)};
    default:
      return of_warning(event, host);
  }
}

TimelineLine of_fault(const Event& event, const HostNames& names) {
  const std::string_view host = names.of(event.host);
  const std::string why = event.text.empty() ? "" : fmt::format(" ({})", event.text);
  const auto line = [&](std::string words) {
    return TimelineLine{event.when, Mood::fault, std::move(words) + why};
  };
  switch (event.kind) {
    case EventKind::paused:
      return line(fmt::format("{} is paused", host));
    case EventKind::resumed:
      return line(fmt::format("{} goes on", host));
    case EventKind::crashed:
      return line(fmt::format("{} crashes", host));
    case EventKind::started:
      return line(fmt::format("{} starts again", host));
    case EventKind::cut:
      return line(fmt::format("{} → {} is cut", host, names.of(event.peer)));
    case EventKind::mended:
      return line(fmt::format("{} → {} is mended", host, names.of(event.peer)));
    case EventKind::clock_changed:
      return line(fmt::format("the clock of {} is stepped", host));
    case EventKind::member_changed:
      return {event.when, Mood::fault, fmt::format("{} {}", host, event.text)};
    default:
      return line("everything is healed");
  }
}

/// Tells a story, and attempts in vain as one line until something else happens.
class Storyteller {
 public:
  explicit Storyteller(const HostNames& names) : names_{names} {}

  void hear(const Event& event);
  std::vector<TimelineLine> finish();

 private:
  struct Asked {
    std::size_t line;
    std::string_view lock;
  };

  void hear_in_vain(const Event& event, const Asked& asked);
  void tell_in_vain();

  const HostNames& names_;
  std::vector<TimelineLine> lines_;
  /// Questions without an answer, by client.
  std::map<HostId, std::deque<Asked>> open_;
  // The attempts in vain since the last other event.
  std::vector<std::string_view> clients_;
  std::vector<std::string_view> locks_;
  TimePoint since_{};
  std::size_t times_{0};
};

void add_once(std::vector<std::string_view>& names, std::string_view name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

void Storyteller::hear_in_vain(const Event& event, const Asked& asked) {
  // The question goes with its answer.
  lines_[asked.line].words.clear();
  if (times_++ == 0) since_ = event.when;
  add_once(clients_, names_.of(event.host));
  add_once(locks_, asked.lock);
}

void Storyteller::tell_in_vain() {
  if (times_ == 0) return;
  std::ranges::sort(clients_);
  const std::string often = times_ == 1 ? "" : fmt::format(" ({} attempts)", times_);
  lines_.push_back({since_,
                    Mood::quiet,
                    fmt::format("{} find{} {} taken{}",
                                fmt::join(clients_, ", "),
                                clients_.size() == 1 ? "s" : "",
                                fmt::join(locks_, ", "),
                                often)});
  times_ = 0;
  clients_.clear();
  locks_.clear();
}

void Storyteller::hear(const Event& event) {
  if (!belongs_to_story(event.kind)) return;
  auto& asked = open_[event.host];
  if (event.kind == EventKind::asked) {
    asked.push_back({lines_.size(), event.text});
    lines_.push_back(describe(event, names_));
    return;
  }
  const bool answer = event.kind == EventKind::granted || event.kind == EventKind::refused;
  if (answer && !asked.empty()) {
    // Of several questions, the one about this lock.
    const auto [first, rest] = split(event.text);
    const std::string_view lock = event.kind == EventKind::granted ? first : rest;
    auto about = std::ranges::find(asked, lock, &Asked::lock);
    if (about == asked.end()) about = asked.begin();
    const Asked question = *about;
    asked.erase(about);
    if (event.kind == EventKind::refused && first == "busy") {
      return hear_in_vain(event, question);
    }
  }
  if (event.kind == EventKind::crashed) asked.clear();
  tell_in_vain();
  lines_.push_back(describe(event, names_));
}

std::vector<TimelineLine> Storyteller::finish() {
  tell_in_vain();
  std::erase_if(lines_, [](const TimelineLine& line) { return line.words.empty(); });
  // Attempts are told when something else happens, and belong where they began.
  std::ranges::stable_sort(lines_, {}, &TimelineLine::when);
  return std::move(lines_);
}

}  // namespace

HostNames::HostNames(const std::vector<HostName>& hosts) {
  for (const HostName& host : hosts) {
    if (host.host.index >= names_.size()) names_.resize(host.host.index + std::size_t{1}, "?");
    names_[host.host.index] = host.name;
  }
}

std::string_view HostNames::of(HostId host) const {
  return host.index < names_.size() ? names_[host.index] : std::string_view{"?"};
}

bool belongs_to_story(EventKind kind) {
  switch (kind) {
    case EventKind::sent:
    case EventKind::repeated:
    case EventKind::arrived:
    case EventKind::ran:
      return false;
    default:
      return true;
  }
}

TimelineLine describe(const Event& event, const HostNames& names) {
  switch (event.kind) {
    case EventKind::sent:
    case EventKind::lost:
    case EventKind::repeated:
    case EventKind::arrived:
      return of_message(event, names);
    case EventKind::ran:
    case EventKind::served:
    case EventKind::found_stale:
      return of_server(event, names);
    case EventKind::asked:
    case EventKind::granted:
    case EventKind::refused:
    case EventKind::released:
    case EventKind::warned:
      return of_client(event, names);
    default:
      return of_fault(event, names);
  }
}

std::vector<TimelineLine> timeline(const SeedReport& report, Detail detail) {
  const HostNames names{report.hosts};
  if (detail == Detail::story) {
    Storyteller storyteller{names};
    for (const Event& event : report.trace) storyteller.hear(event);
    return storyteller.finish();
  }
  std::vector<TimelineLine> lines;
  for (const Event& event : report.trace) lines.push_back(describe(event, names));
  return lines;
}

std::string to_text(const TimelineLine& line) {
  const std::chrono::duration<double, std::milli> time = line.when.time_since_epoch();
  return fmt::format("{:>10.3f} ms  {}", time.count(), line.words);
}

}  // namespace holdfast::sim
