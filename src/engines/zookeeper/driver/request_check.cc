#include "engines/zookeeper/driver/request_check.h"

#include <algorithm>
#include <string>

#include "base/invalid.h"

namespace holdfast::zookeeper {
namespace {

/// Headers, lengths, versions, and the longest list of rights we send.
constexpr std::size_t kAround = 80;

std::size_t data_of(const auto& request) {
  if constexpr (requires { request.data; }) return request.data.size();
  return 0;
}

Create::Kind kind_of(const auto& request) {
  if constexpr (requires { request.kind; }) return request.kind;
  return Create::Kind::persistent;
}

bool has_valid_paths(const Request& request) {
  const auto is_valid = [](const auto& step) { return is_path(step.path, kind_of(step)); };
  if (const Multi* const multi = std::get_if<Multi>(&request)) {
    return std::ranges::all_of(multi->steps,
                               [&](const Multi::Step& step) { return std::visit(is_valid, step); });
  }
  return std::visit(
      [&](const auto& one) {
        if constexpr (requires { one.path; }) return is_valid(one);
        return true;
      },
      request);
}

bool is_good_component(std::string_view text) {
  constexpr char kFirstPrintable = 0x20;
  const auto is_control = [](char c) { return c >= 0 && c < kFirstPrintable; };
  if (text.empty() || text == "." || text == "..") return false;
  return std::ranges::none_of(text, is_control);
}

}  // namespace

bool is_path(std::string_view path, Create::Kind kind) {
  const bool is_numbered =
      kind == Create::Kind::persistent_sequential || kind == Create::Kind::ephemeral_sequential;
  if (!path.starts_with('/')) return false;
  if (path == "/") return true;
  for (std::size_t from = 1; from <= path.size();) {
    const std::size_t end = std::min(path.find('/', from), path.size());
    const std::string_view component = path.substr(from, end - from);
    const bool is_last = end == path.size();
    // The number makes a good component of it.
    if (!is_good_component(is_last && is_numbered ? std::string{component} + '0' : component)) {
      return false;
    }
    from = end + 1;
  }
  return true;
}

std::size_t bytes_of(const Request& request, std::string_view chroot) {
  const auto bytes = [&](const auto& step) {
    return kAround + chroot.size() + step.path.size() + data_of(step);
  };
  if (const Multi* const multi = std::get_if<Multi>(&request)) {
    std::size_t sum = kAround;
    for (const Multi::Step& step : multi->steps) sum += std::visit(bytes, step);
    return sum;
  }
  return std::visit(
      [&](const auto& one) -> std::size_t {
        if constexpr (requires { one.path; }) return bytes(one);
        return 0;
      },
      request);
}

std::string_view path_of(const Request& request) {
  const auto path = [](const auto& one) -> std::string_view { return one.path; };
  if (const Multi* const multi = std::get_if<Multi>(&request)) {
    return multi->steps.empty() ? "" : std::visit(path, multi->steps.front());
  }
  return std::visit(
      [&](const auto& one) -> std::string_view {
        if constexpr (requires { one.path; }) return path(one);
        return {};
      },
      request);
}

Result<void> check_request(const Request& request, std::string_view chroot, std::size_t most) {
  if (!has_valid_paths(request)) {
    return invalid("ZooKeeper takes no such path: " + std::string{path_of(request)},
                   "use components that are neither empty, . nor .., without control characters");
  }
  const std::size_t bytes = bytes_of(request, chroot);
  if (bytes > most) {
    return invalid("a request to ZooKeeper would have " + std::to_string(bytes) +
                       " bytes, and servers take " + std::to_string(most) + " (jute.maxbuffer)",
                   "store less in one value");
  }
  return {};
}

}  // namespace holdfast::zookeeper
