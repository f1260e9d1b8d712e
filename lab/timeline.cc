#include "lab/timeline.h"

#include <algorithm>
#include <array>

namespace holdfast::lab {
namespace {

constexpr std::array kBoth{Who::a, Who::b};

bool ends_belief(Step step) {
  return step == Step::refused || step == Step::released || step == Step::found_lost;
}

Duration end_of(const Scene& scene) {
  return scene.events.empty() ? Duration{0} : scene.events.back().at;
}

// The spans of one process that begin with a step and end when `ends` says so.
template <class Ends>
void collect(const Scene& scene, Who who, Step begin, const Ends& ends, std::vector<Span>& spans) {
  std::optional<Duration> from;
  for (const Event& event : scene.events) {
    if (event.who != who) continue;
    if (event.step == begin) from = event.at;
    if (from && ends(event.step)) {
      spans.push_back({.who = who, .from = *from, .to = event.at});
      from.reset();
    }
  }
  if (from) spans.push_back({.who = who, .from = *from, .to = end_of(scene)});
}

template <class Ends>
std::vector<Span> spans_of(const Scene& scene, Step begin, const Ends& ends) {
  std::vector<Span> spans;
  for (const Who who : kBoth) collect(scene, who, begin, ends, spans);
  return spans;
}

}  // namespace

std::string_view to_string(Who who) { return who == Who::a ? "A" : "B"; }

std::string_view to_string(Step step) {
  static constexpr std::array<std::string_view, 12> kNames{"asked",
                                                           "granted",
                                                           "opened",
                                                           "read",
                                                           "decided",
                                                           "declined",
                                                           "stopped",
                                                           "continued",
                                                           "accepted",
                                                           "refused",
                                                           "released",
                                                           "found_lost"};
  return kNames.at(static_cast<std::size_t>(step));
}

double to_ms(Duration time) { return std::chrono::duration<double, std::milli>{time}.count(); }

std::vector<Span> beliefs(const Scene& scene) {
  return spans_of(scene, Step::granted, ends_belief);
}

std::vector<Span> pauses(const Scene& scene) {
  return spans_of(scene, Step::stopped, [](Step step) { return step == Step::continued; });
}

std::optional<Span> overlap(const Scene& scene) {
  const auto spans = beliefs(scene);
  if (spans.size() != 2) return std::nullopt;
  const Span both{.from = std::max(spans[0].from, spans[1].from),
                  .to = std::min(spans[0].to, spans[1].to)};
  return both.from < both.to ? std::optional{both} : std::nullopt;
}

int count(const Scene& scene, Step step) {
  return static_cast<int>(std::ranges::count(scene.events, step, &Event::step));
}

std::vector<Overwrite> overwrites(const Scene& scene) {
  std::vector<Overwrite> found;
  std::vector<std::size_t> written;
  std::array<std::size_t, 2> seen{};
  for (std::size_t at = 0; at < scene.events.size(); ++at) {
    const Event& event = scene.events[at];
    auto& known = seen.at(static_cast<std::size_t>(event.who));
    if (event.step == Step::read) known = written.size();
    if (event.step != Step::accepted) continue;
    for (std::size_t missed = known; missed < written.size(); ++missed) {
      found.push_back({.by = at, .victim = written[missed]});
    }
    written.push_back(at);
    known = written.size();
  }
  return found;
}

TokenNames::TokenNames(const Scene& scene) {
  std::vector<std::string> digits;
  for (const Event& event : scene.events) {
    if (event.token) digits.push_back(std::to_string(*event.token));
  }
  if (digits.empty()) return;
  const auto [low, high] = std::ranges::minmax(digits);
  if (low.size() != high.size()) return;
  const auto differ = std::ranges::mismatch(low, high).in1 - low.begin();
  common_ = std::min(static_cast<std::size_t>(differ), low.size() > 3 ? low.size() - 3 : 0);
}

std::string TokenNames::operator()(std::optional<std::uint64_t> token) const {
  if (!token) return {};
  const std::string digits = std::to_string(*token);
  return common_ == 0 || digits.size() <= common_ ? digits : "…" + digits.substr(common_);
}

}  // namespace holdfast::lab
