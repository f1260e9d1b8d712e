#include "cli/run/metrics_file.h"

#include <fcntl.h>
#include <sys/file.h>

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

std::vector<Family> parse(std::string_view text) {
  constexpr std::string_view kHelp = "# HELP ";
  constexpr std::string_view kType = "# TYPE ";
  std::vector<Family> families;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
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
  const std::vector<Family> known = parse(before);
  std::string text;
  for (Family& family : parse(now)) {
    const auto same = std::ranges::find(known, family.name, &Family::name);
    if (same != known.end() && family.type != "gauge") add(*same, family);
    text += family.head;
    for (const Sample& sample : family.samples) {
      text += sample.key + " " + to_text(sample.value) + "\n";
    }
  }
  return text;
}

Result<void> add_to_metrics_file(const std::string& path, std::string_view now) {
  // The folder stands for the file, which is another one after every change.
  const auto folder = std::filesystem::absolute(path).parent_path();
  const UniqueFd lock{open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!lock || flock(lock.get(), LOCK_EX) != 0) {
    return Unexpected{observe::file_error(folder, errno)};
  }
  std::ostringstream before;
  before << std::ifstream{path}.rdbuf();
  return observe::replace_file(path, add_metrics(before.str(), now));
}

}  // namespace holdfast::cli
