#include "cli/lab/scene_output.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <cmath>

namespace holdfast::cli {
namespace {

using lab::Step;

double rounded(Duration time) { return std::round(lab::to_ms(time) * 1000) / 1000; }

std::string token_words(const lab::Event& event) {
  return event.token ? fmt::format(" with token {}", *event.token) : "";
}

std::string refusal_words(const lab::Event& event) {
  if (!event.highest) return "the value is at another version";
  return fmt::format(
      "its token {} is below {}", event.token.value_or(0), event.highest.value_or(0));
}

std::string words(const lab::Event& event) {
  const std::int64_t value = event.value.value_or(0);
  switch (event.step) {
    case Step::asked:
      return "asks for the lock";
    case Step::granted:
      return fmt::format("is granted the lock{}", token_words(event));
    case Step::opened:
      return fmt::format("opens the resource{}", token_words(event));
    case Step::read:
      return fmt::format("reads {}", value);
    case Step::decided:
      return fmt::format("decides to write {}", value);
    case Step::declined:
      return "declines: there is not enough";
    case Step::stopped:
      return "is stopped (SIGSTOP)";
    case Step::continued:
      return "is continued (SIGCONT), and has not noticed";
    case Step::accepted:
      return fmt::format("writes {}{}: accepted", value, token_words(event));
    case Step::refused:
      return fmt::format("writes {}: refused, {}", value, refusal_words(event));
    case Step::released:
      return "releases the lock";
    case Step::found_lost:
      return "learns that its lease was lost";
  }
  return "";
}

Tone tone_of(Step step) {
  if (step == Step::accepted) return Tone::good;
  if (step == Step::refused) return Tone::bad;
  return step == Step::stopped || step == Step::continued ? Tone::waiting : Tone::plain;
}

boost::json::object event_json(const lab::Event& event) {
  boost::json::object object{{"at_ms", rounded(event.at)},
                             {"process", lab::to_string(event.who)},
                             {"event", lab::to_string(event.step)}};
  if (event.value) object["value"] = *event.value;
  if (event.token) object["token"] = *event.token;
  if (event.highest) object["highest"] = *event.highest;
  return object;
}

boost::json::array spans_json(const std::vector<lab::Span>& spans) {
  boost::json::array array;
  for (const lab::Span& span : spans) {
    array.push_back(boost::json::object{{"process", lab::to_string(span.who)},
                                        {"from_ms", rounded(span.from)},
                                        {"to_ms", rounded(span.to)}});
  }
  return array;
}

void print_spans(Console& console, const std::vector<lab::Span>& spans, std::string_view what) {
  for (const lab::Span& span : spans) {
    console.print(fmt::format("  {} {} from {:.1f} to {:.1f} ms",
                              lab::to_string(span.who),
                              what,
                              lab::to_ms(span.from),
                              lab::to_ms(span.to)));
  }
}

}  // namespace

void print_scene(Console& console, const lab::Scene& scene) {
  for (const lab::Event& event : scene.events) {
    const std::string time = fmt::format("{:>9.1f} ms", lab::to_ms(event.at));
    console.print(fmt::format("{}  {}  {}",
                              console.paint(time, Tone::faint),
                              console.paint(lab::to_string(event.who), Tone::name),
                              console.paint(words(event), tone_of(event.step))));
  }
  print_spans(console, lab::beliefs(scene), "believed it held the lock");
  print_spans(console, lab::pauses(scene), "was paused");
  if (const auto both = lab::overlap(scene)) {
    console.print(console.paint(
        fmt::format("  both believed it for {:.1f} ms", lab::to_ms(both->to - both->from)),
        Tone::waiting));
  }
}

boost::json::object scene_json(const lab::Scene& scene) {
  boost::json::array events;
  for (const lab::Event& event : scene.events) events.push_back(event_json(event));
  return {{"initial", scene.initial},
          {"final", scene.final_value},
          {"accepted", lab::count(scene, Step::accepted)},
          {"refused", lab::count(scene, Step::refused)},
          {"events", std::move(events)},
          {"believed", spans_json(lab::beliefs(scene))},
          {"paused", spans_json(lab::pauses(scene))}};
}

}  // namespace holdfast::cli
