#include "bench/compare/compare.h"

#include <algorithm>

#include "bench/compare/own_engine.h"

namespace holdfast::bench {
namespace {

Result<OwnEngine> bring_up(const std::string& engine) {
  if (is_own(engine)) return start_engine(engine);
  return OwnEngine{.url = engine};
}

}  // namespace

bool is_own(std::string_view engine) {
  return std::ranges::find(kOwnEngines, engine) != kOwnEngines.end();
}

std::string shown_url(std::string_view url) {
  const auto authority = url.find("://");
  const auto at = url.rfind('@');
  std::string shown{url};
  if (authority != std::string_view::npos && at != std::string_view::npos && at > authority) {
    shown.erase(authority + 3, at - authority - 2);
  }
  return shown.substr(0, shown.find('?'));
}

Result<Comparison> compare(const CompareOptions& options) {
  Comparison comparison;
  for (std::size_t i = 0; i < options.engines.size(); ++i) {
    const std::string& engine = options.engines[i];
    const std::string shown = is_own(engine) ? engine : shown_url(engine);
    const auto progress = [&](const std::string& words, double part) {
      const auto done = static_cast<double>(i) + part;
      const auto all = static_cast<double>(options.engines.size());
      if (options.progress) options.progress(shown + ": " + words, done / all);
    };
    progress("starting", 0);
    const auto up = bring_up(engine);
    if (!up) {
      comparison.missing.push_back({shown, up.error()});
      continue;
    }
    const auto figures = run_duel({.url = up->url,
                                   .prepare = up->prepare,
                                   .interrupt = options.interrupt,
                                   .progress = progress});
    if (figures) {
      comparison.measured.push_back({shown, *figures});
    } else if (figures.error().code == Errc::cancelled) {
      return Unexpected{figures.error()};
    } else {
      comparison.missing.push_back({shown, figures.error()});
    }
  }
  return comparison;
}

}  // namespace holdfast::bench
