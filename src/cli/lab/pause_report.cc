#include <fmt/format.h>

#include <boost/json/array.hpp>

#include "cli/lab/reports.h"
#include "cli/lab/scene_output.h"
#include "lab/sheet.h"

namespace holdfast::cli {
namespace {

using lab::PauseStory;

std::string_view title_of(PauseStory story) {
  return story == PauseStory::late_write ? "A wakes after B has written"
                                         : "A's write arrives between B's read and B's write";
}

const lab::PauseTake* find(const lab::PauseReport& report, lab::Access access, PauseStory story) {
  for (const lab::PauseTake& take : report.takes) {
    if (take.scene.access == access && take.story == story) return &take;
  }
  return nullptr;
}

std::string cell(Console& console, const lab::PauseTake* take) {
  if (take == nullptr) return "";
  const lab::Tally tally = lab::tally(take->scene);
  const std::string words = tally.refused == 0
                                ? lab::lost_words(tally.lost)
                                : fmt::format("refused, {}", lab::lost_words(tally.lost));
  return console.paint(fmt::format("{:<22}", words), tally.lost == 0 ? Tone::good : Tone::bad);
}

}  // namespace

void print(Console& console, const lab::PauseReport& report) {
  for (const lab::PauseTake& take : report.takes) {
    const auto head = fmt::format("{}: {}", lab::title_of(take.scene.access), title_of(take.story));
    console.print(console.paint(head, Tone::name));
    print_scene(console, take.scene);
    const lab::Tally tally = lab::tally(take.scene);
    console.print(fmt::format(
        "  {} accepted, {} refused, the counter is {}: {}\n",
        tally.accepted,
        tally.refused,
        take.scene.final_value,
        console.paint(lab::lost_words(tally.lost), tally.lost == 0 ? Tone::good : Tone::bad)));
  }
  console.print(fmt::format("{:<22}{:<22}  {}", "", "late write", "write in flight"));
  for (const lab::Access access : lab::kProtections) {
    console.print(fmt::format("{:<22}{}  {}",
                              lab::title_of(access),
                              cell(console, find(report, access, PauseStory::late_write)),
                              cell(console, find(report, access, PauseStory::in_flight))));
  }
}

boost::json::object to_json(const lab::PauseReport& report) {
  boost::json::array stories;
  boost::json::array verdicts;
  for (const lab::Access access : lab::kProtections) {
    lab::Tally sum;
    bool ok = true;
    for (const lab::PauseTake& take : report.takes) {
      if (take.scene.access != access) continue;
      const lab::Tally tally = lab::tally(take.scene);
      sum.lost += tally.lost;
      sum.refused += tally.refused;
      ok = ok && (tally.lost > 0) == take.must_lose();
      boost::json::object story = scene_json(take.scene);
      story["variant"] = lab::to_string(access);
      story["story"] = lab::to_string(take.story);
      story["lost"] = tally.lost;
      stories.push_back(std::move(story));
    }
    verdicts.push_back(boost::json::object{{"variant", lab::to_string(access)},
                                           {"lost", sum.lost},
                                           {"refused", sum.refused},
                                           {"ok", ok}});
  }
  return {{"demo", "pause"},
          {"ttl_ms", report.ttl.count()},
          {"verdicts", std::move(verdicts)},
          {"stories", std::move(stories)}};
}

}  // namespace holdfast::cli
