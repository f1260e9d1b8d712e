#include "observe/prometheus.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <utility>

namespace holdfast::observe {
namespace {

std::string seconds(std::uint64_t nanoseconds) {
  char text[32];
  const double value = static_cast<double>(nanoseconds) / 1e9;
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return {text, end};
}

std::string join(const std::string& first, const std::string& second) {
  return first.empty() || second.empty() ? first + second : first + "," + second;
}

class Page {
 public:
  explicit Page(const std::vector<Series>& series) : series_{series} {}

  void family(const char* name, const char* type, const char* help) {
    name_ = std::string{"holdfast_"} + name;
    text_ += "# HELP " + name_ + " " + help + "\n# TYPE " + name_ + " " + type + "\n";
  }

  /// One line for each of the series.
  void line(const std::string& label, const std::function<std::uint64_t(const Totals&)>& value) {
    for (const Series& one : series_) {
      sample("", join(one.label, label), std::to_string(value(one.totals)));
    }
  }

  /// The same, for a value that may never come about: only where it has.
  void rare_line(const std::string& label, std::size_t cell) {
    for (const Series& one : series_) {
      if (one.totals[cell] == 0) continue;
      sample("", join(one.label, label), std::to_string(one.totals[cell]));
    }
  }

  void histogram(Cell begin) {
    for (const Series& one : series_) {
      std::uint64_t count = 0;
      for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
        count += one.totals[begin + bucket];
        const bool last = bucket == kBounds.size();
        const auto bound = last ? 0 : static_cast<std::uint64_t>(kBounds[bucket].count());
        sample("_bucket",
               join(one.label, label("le", last ? "+Inf" : seconds(bound))),
               std::to_string(count));
      }
      sample("_sum", one.label, seconds(one.totals[begin + kBuckets]));
      sample("_count", one.label, std::to_string(count));
    }
  }

  std::string take() && { return std::move(text_); }

 private:
  void sample(const char* suffix, const std::string& labels, const std::string& value) {
    text_ += name_ + suffix + (labels.empty() ? "" : "{" + labels + "}") + " " + value + "\n";
  }

  const std::vector<Series>& series_;
  std::string name_;
  std::string text_;
};

auto cell(std::size_t index) {
  return [index](const Totals& totals) { return totals[index]; };
}

void add_acquisitions(Page& page) {
  page.family("acquisitions_total", "counter", "Locks granted, at once or after a wait.");
  page.line(label("contended", "false"), cell(kAcquired));
  page.line(label("contended", "true"), cell(kAcquired + 1));
  page.family("refusals_total", "counter", "Acquisitions that gave no lease, by reason.");
  for (std::size_t code = 1; code < kErrcs; ++code) {
    page.rare_line(label("reason", to_string(static_cast<Errc>(code))), kRefused + code);
  }
  page.family("wait_seconds", "histogram", "From asking for a lock to its grant.");
  page.histogram(kWait);
  page.family("hand_over_seconds",
              "histogram",
              "From a release in this process to the grant to another of its waiters.");
  page.histogram(kHandOver);
}

void add_leases(Page& page) {
  page.family("leases", "gauge", "Leases the program has not let go of.");
  page.line("", [](const Totals& totals) {
    // Counted by different threads: what was closed may be seen before it was opened.
    const std::uint64_t opened = totals[kAcquired] + totals[kAcquired + 1];
    return opened - std::min(opened, totals[kClosed]);
  });
  page.family("releases_total", "counter", "Leases and locks released, by outcome.");
  for (std::size_t outcome = 0; outcome < 3; ++outcome) {
    page.line(label("outcome", to_string(static_cast<ReleaseOutcome>(outcome))),
              cell(kReleased + outcome));
  }
  page.family("hold_seconds", "histogram", "From the grant to the release, where it was timed.");
  page.histogram(kHold);
  page.family("renewals_total", "counter", "Renewals of leases, by result.");
  page.line(label("result", "renewed"), cell(kRenewed));
  for (std::size_t code = 1; code < kErrcs; ++code) {
    page.rare_line(label("result", to_string(static_cast<Errc>(code))), kRenewalFailed + code);
  }
}

void add_troubles(Page& page) {
  page.family("jeopardy_total", "counter", "Times that the renewal of a lease was overdue.");
  page.line("", cell(kJeopardy));
  page.family("losses_total", "counter", "Leases that ended before their release, by reason.");
  for (std::size_t reason = 1; reason < kReasons; ++reason) {
    page.line(label("reason", to_string(static_cast<LossReason>(reason))), cell(kLost + reason));
  }
  page.family("takeovers_total", "counter", "Locks taken from their holders by force.");
  page.line("", cell(kBroken));
  page.family("stale_refusals_total",
              "counter",
              "Operations the store refused because a newer holder had come.");
  page.line("", cell(kStale));
  page.family("conflicts_total", "counter", "Changes that met another's in the store.");
  page.line("", cell(kConflicts));
}

}  // namespace

std::string label(std::string_view name, std::string_view value) {
  std::string text{name};
  text += "=\"";
  for (const char character : value) {
    if (character == '\\' || character == '"') text += '\\';
    text += character;
  }
  return text + '"';
}

std::string to_prometheus(const std::vector<Series>& series) {
  Page page{series};
  add_acquisitions(page);
  add_leases(page);
  add_troubles(page);
  return std::move(page).take();
}

}  // namespace holdfast::observe
