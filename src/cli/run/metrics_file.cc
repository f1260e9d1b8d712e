#include "cli/run/metrics_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "base/unique_fd.h"
#include "observe/replace_file.h"

namespace holdfast::cli {
namespace {

constexpr std::string_view kHelp = "# HELP ";
constexpr std::string_view kType = "# TYPE ";

struct Sample {
  /// Name and labels.
  std::string key;
  double value;
};

struct Family {
  std::string name;
  std::string type{};
  /// The lines that introduce it, as they are.
  std::string head{};
  std::vector<Sample> samples{};
};

std::string_view word(std::string_view line, std::size_t begin) {
  return line.substr(begin, line.find(' ', begin) - begin);
}

void add_sample(std::string_view line, std::vector<Family>& families) {
  const std::size_t space = line.rfind(' ');
  if (families.empty() || space == std::string_view::npos) return;
  double value = 0;
  const char* const end = line.data() + line.size();
  const auto parsed = std::from_chars(line.data() + space + 1, end, value);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return;
  families.back().samples.push_back({std::string{line.substr(0, space)}, value});
}

std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

std::vector<Family> parse(std::string_view text) {
  std::vector<Family> families;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.starts_with(kHelp)) {
      families.push_back({.name = std::string{word(line, kHelp.size())}});
    } else if (line.starts_with(kType) && !families.empty()) {
      families.back().type = line.substr(line.rfind(' ') + 1);
    } else {
      add_sample(line, families);
      continue;
    }
    if (!families.empty()) families.back().head += std::string{line} + "\n";
  }
  return families;
}

/// Empty: a comment, or nothing that Prometheus reads.
std::string_view metric_of(std::string_view line) {
  if (line.starts_with(kHelp) || line.starts_with(kType)) return word(line, kHelp.size());
  const std::string_view name = line.substr(0, line.find_first_of("{ "));
  const std::size_t labels_end = line.rfind('}');
  const std::size_t begin = labels_end == std::string_view::npos ? name.size() : labels_end + 1;
  if (begin >= line.size() || line[begin] != ' ') return {};
  std::string_view value = word(line, begin + 1);
  if (value.starts_with('+')) value.remove_prefix(1);
  double ignored = 0;
  const char* const end = value.data() + value.size();
  const auto parsed = std::from_chars(value.data(), end, ignored);
  return parsed.ec == std::errc{} && parsed.ptr == end ? name : std::string_view{};
}

bool is_of(const Family& family, std::string_view metric) {
  if (!metric.starts_with(family.name)) return false;
  const std::string_view part = metric.substr(family.name.size());
  return part.empty() || part == "_bucket" || part == "_sum" || part == "_count";
}

/// A file's lines about the families, and what others have put there.
struct Parted {
  std::string ours{};
  std::string others{};
};

Parted part(std::string_view text, const std::vector<Family>& families) {
  Parted parted;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const std::string_view metric = metric_of(line);
    if (metric.empty()) continue;
    const auto has = [&](const Family& family) { return is_of(family, metric); };
    const bool ours = std::ranges::any_of(families, has);
    (ours ? parted.ours : parted.others) += std::string{line} + "\n";
  }
  return parted;
}

std::string to_text(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

void add(const Family& before, Family& now) {
  for (const Sample& old : before.samples) {
    const auto same = std::ranges::find(now.samples, old.key, &Sample::key);
    if (same == now.samples.end()) {
      now.samples.push_back(old);
    } else {
      same->value += old.value;
    }
  }
}

}  // namespace

std::string add_metrics(std::string_view before, std::string_view now) {
  std::vector<Family> families = parse(now);
  const Parted parted = part(before, families);
  const std::vector<Family> known = parse(parted.ours);
  std::string text;
  for (Family& family : families) {
    const auto same = std::ranges::find(known, family.name, &Family::name);
    if (same != known.end() && family.type != "gauge") add(*same, family);
    text += family.head;
    for (const Sample& sample : family.samples) {
      text += sample.key + " " + to_text(sample.value) + "\n";
    }
  }
  return text + parted.others;
}

Result<void> check_metrics_file(const std::string& path) {
  std::error_code ignored;
  const auto there = std::filesystem::symlink_status(path, ignored);
  const bool exists = std::filesystem::exists(there);
  // It is replaced as a whole, which would put an end to a device, a pipe or a link.
  if (exists && !std::filesystem::is_regular_file(there)) {
    return Unexpected{Error{Errc::invalid_argument,
                            path + " is no plain file",
                            "name a file of its own, such as one for Prometheus' collector"}};
  }
  if (exists && access(path.c_str(), R_OK) != 0) {
    return Unexpected{observe::file_error(path, errno)};
  }
  return observe::check_replaceable(path);
}

Result<void> add_to_metrics_file(const std::string& path, std::string_view now) {
  // The folder stands for the file, which is another one after every change.
  const auto folder = std::filesystem::absolute(path).parent_path();
  const UniqueFd lock{open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!lock || flock(lock.get(), LOCK_EX) != 0) {
    return Unexpected{observe::file_error(folder, errno)};
  }
  // What cannot be read is not to be replaced.
  if (auto good = check_metrics_file(path); !good) return good;
  std::ostringstream before;
  before << std::ifstream{path}.rdbuf();
  return observe::replace_file(path, add_metrics(before.str(), now));
}

}  // namespace holdfast::cli
