#include "client/engine_url.h"

#include <algorithm>
#include <array>

#include "base/invalid.h"
#include "base/percent.h"
#include "base/url_timeout.h"
#include "core/limits.h"

namespace holdfast {
namespace {

constexpr std::array<std::string_view, 2> kOtherEngines{"http", "https"};

constexpr const char* kSchemes =
    "write local:, local:/directory, redis://host, redlock://a,b,c, etcd://a,b,c, "
    "zookeeper://a,b,c or postgres://host/database";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// What a URL means by `text`: a NUL cannot be part of a path or a name.
std::optional<std::string> decode(std::string_view text) {
  auto decoded = percent_decode(text);
  if (decoded && decoded->find('\0') != std::string::npos) return std::nullopt;
  return decoded;
}

Result<std::string> parse_scheme(std::string_view url) {
  const std::size_t colon = url.find(':');
  if (colon == std::string_view::npos || colon == 0) {
    return invalid("the engine URL has no scheme", kSchemes);
  }
  std::string scheme{url.substr(0, colon)};
  std::ranges::transform(scheme, scheme.begin(), lower);
  if (scheme == "local") return scheme;
  if (std::ranges::find(kOtherEngines, scheme) != kOtherEngines.end()) {
    return Unexpected{
        Error{Errc::unsupported,
              "the engine " + scheme + ": is not in this build",
              "use local:, redis:, redlock:, etcd:, zookeeper: or postgres:, or a build with that "
              "engine"}};
  }
  const bool is_word =
      std::ranges::all_of(scheme, [](char c) { return lower(c) >= 'a' && lower(c) <= 'z'; });
  return invalid(is_word ? "there is no engine " + scheme + ":" : "the engine URL has no scheme",
                 kSchemes);
}

Result<std::string> parse_directory(std::string_view path) {
  if (path.empty()) return std::string{};
  if (path.front() != '/') {
    return invalid("the directory of the local: URL is not absolute",
                   "write local:/directory, or local: for the default directory");
  }
  if (path.starts_with("//")) {
    return invalid("a local: URL names no host", "write local:/directory with one slash");
  }
  auto directory = decode(path);
  if (!directory) {
    return invalid("the directory of the local: URL has a bad % sequence",
                   "write a literal % as %25");
  }
  return std::move(*directory);
}

Result<void> apply_parameter(EngineUrl& url, std::string_view parameter) {
  const std::size_t equals = parameter.find('=');
  const std::string_view key = parameter.substr(0, equals);
  const auto value = equals == std::string_view::npos ? std::optional<std::string>{}
                                                      : decode(parameter.substr(equals + 1));
  if (key != "prefix" && key != "timeout" && key != "sync") {
    return invalid("local: has no parameter '" + std::string{key} + "'",
                   "the parameters are prefix, timeout and sync");
  }
  if (!value) {
    return invalid("the parameter " + std::string{key} + " has no well-formed value",
                   "write " + std::string{key} + "=VALUE, and a literal % as %25");
  }
  if (key == "timeout") {
    const auto timeout = parse_url_timeout(*value);
    if (!timeout) return Unexpected{timeout.error()};
    url.timeout = *timeout;
    return {};
  }
  if (key == "sync") {
    const auto sync = local::parse_sync(*value);
    if (!sync) return invalid("the parameter sync has no such value", "write full, normal or off");
    url.sync = *sync;
    return {};
  }
  // Every lock name begins with it, so that it must be the beginning of a good name.
  if (!value->empty()) {
    if (auto good = core::check_name(*value); !good) {
      return invalid("the parameter prefix: " + good.error().message, good.error().remedy_text);
    }
  }
  url.prefix = *value;
  return {};
}

}  // namespace

Result<EngineUrl> parse_engine_url(std::string_view url) {
  const auto scheme = parse_scheme(url);
  if (!scheme) return Unexpected{scheme.error()};
  std::string_view rest = url.substr(scheme->size() + 1);
  const std::size_t question = rest.find('?');
  auto directory = parse_directory(rest.substr(0, question));
  if (!directory) return Unexpected{std::move(directory).error()};

  EngineUrl parsed{.directory = std::move(*directory), .prefix = {}, .timeout = {}, .sync = {}};
  rest = question == std::string_view::npos ? std::string_view{} : rest.substr(question + 1);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    if (auto applied = apply_parameter(parsed, rest.substr(0, end)); !applied) {
      return Unexpected{std::move(applied).error()};
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return parsed;
}

}  // namespace holdfast
