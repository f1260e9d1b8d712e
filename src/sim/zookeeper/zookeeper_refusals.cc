#include "sim/zookeeper/zookeeper_refusals.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace holdfast::sim {
namespace {

using namespace zookeeper;

constexpr std::size_t kLargest = 1'048'575;

bool is_component(std::string_view part) { return !part.empty() && part != "." && part != ".."; }

bool is_path(std::string_view path) {
  if (path == "/") return true;
  if (!path.starts_with('/')) return false;
  if (std::ranges::any_of(path, [](unsigned char byte) { return byte < ' ' || byte == 0x7f; })) {
    return false;
  }
  path.remove_prefix(1);
  while (true) {
    const std::size_t slash = path.find('/');
    if (!is_component(path.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

struct Size {
  std::size_t bytes{0};
  bool paths{true};

  template <class Step>
  void add(const Step& step) {
    bytes += step.path.size();
    if constexpr (requires { step.data; }) bytes += step.data.size();
    paths = paths && is_path(step.path);
  }
};

}  // namespace

std::optional<Error> refusal_of(const Request& request) {
  Size size;
  std::visit(
      [&](const auto& what) {
        if constexpr (requires { what.steps; }) {
          for (const Multi::Step& step : what.steps) {
            std::visit([&](const auto& one) { size.add(one); }, step);
          }
        } else {
          size.add(what);
        }
      },
      request);
  if (!size.paths) return Error{Errc::invalid_argument, "that is no path of a node"};
  if (size.bytes > kLargest) return Error{Errc::invalid_argument, "it is too large for a server"};
  return std::nullopt;
}

std::string watched_path(const Request& request) {
  return std::visit(
      [](const auto& what) -> std::string {
        if constexpr (requires { what.watching; }) {
          if (what.watching == Watching::yes) return what.path;
        }
        return {};
      },
      request);
}

}  // namespace holdfast::sim
