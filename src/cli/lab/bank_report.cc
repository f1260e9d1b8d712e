#include <fmt/format.h>

#include <boost/json/array.hpp>

#include "cli/lab/reports.h"
#include "cli/lab/scene_output.h"

namespace holdfast::cli {
namespace {

using lab::Who;

std::string paid_words(const lab::BankTake& take) {
  const bool a = take.paid(Who::a);
  const bool b = take.paid(Who::b);
  if (a && b) return "A and B";
  if (!a && !b) return "nobody";
  return a ? "A" : "B";
}

std::string verdict(Console& console, const lab::BankTake& take) {
  const std::int64_t created = take.created();
  if (created == 0) return console.paint("the books balance", Tone::good);
  const auto words = fmt::format("{} out of nothing", created);
  return console.paint(created > 0 ? words : fmt::format("{} are missing", -created), Tone::bad);
}

}  // namespace

void print(Console& console, const lab::BankReport& report) {
  for (const lab::BankTake& take : report.takes) {
    console.print(console.paint(lab::title_of(take.variant), Tone::name));
    print_scene(console, take.scene);
    console.print("");
  }
  console.print(
      fmt::format("{:<22}{:<10}{:>9}{:>10}  {}", "", "paid", "paid out", "balance", "verdict"));
  for (const lab::BankTake& take : report.takes) {
    console.print(fmt::format("{:<22}{:<10}{:>9}{:>10}  {}",
                              lab::title_of(take.variant),
                              paid_words(take),
                              take.paid_out(),
                              take.scene.final_value,
                              verdict(console, take)));
  }
}

boost::json::object to_json(const lab::BankReport& report) {
  boost::json::array variants;
  for (const lab::BankTake& take : report.takes) {
    boost::json::array paid;
    for (const Who who : {Who::a, Who::b}) {
      if (take.paid(who)) paid.emplace_back(lab::to_string(who));
    }
    boost::json::object variant = scene_json(take.scene);
    variant["variant"] = lab::to_string(take.variant);
    variant["paid"] = std::move(paid);
    variant["paid_out"] = take.paid_out();
    variant["balance"] = take.scene.final_value;
    variant["created"] = take.created();
    variant["balances"] = take.created() == 0;
    variants.push_back(std::move(variant));
  }
  return {{"demo", "bank"}, {"ttl_ms", report.ttl.count()}, {"variants", std::move(variants)}};
}

}  // namespace holdfast::cli
