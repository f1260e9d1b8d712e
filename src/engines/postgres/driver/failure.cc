#include "engines/postgres/driver/failure.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>

namespace holdfast::postgres {
namespace {

/// How messages begin.
constexpr std::string_view kEngine = "PostgreSQL ";
constexpr std::size_t kCodeSize = 5;

/// What a server said begins with its SQLSTATE: `FATAL:  28P01: password authentication failed …`.
struct Said {
  std::string_view code;
  std::string_view text;
};

bool is_code(std::string_view text) {
  return text.size() == kCodeSize && std::ranges::all_of(text, [](unsigned char letter) {
           return std::isdigit(letter) != 0 || std::isupper(letter) != 0;
         });
}

// Severities are translated; codes are not.
Said read(std::string_view said) {
  for (std::size_t at = said.find(":  "); at != std::string_view::npos; at = said.find(":  ", at)) {
    at += 3;
    const std::string_view rest = said.substr(at);
    if (is_code(rest.substr(0, kCodeSize)) && rest.substr(kCodeSize).starts_with(": ")) {
      return {rest.substr(0, kCodeSize), rest.substr(kCodeSize + 2)};
    }
  }
  // libpq names the server by itself: `connection to server at … failed: Connection refused`.
  constexpr std::string_view kFailed = " failed: ";
  const std::size_t at = said.find(kFailed);
  const bool names_server = said.starts_with("connection to ") && at != std::string_view::npos;
  return {{}, names_server ? said.substr(at + kFailed.size()) : said};
}

/// Without hints, and without where in its source the server said it.
std::string first_line(std::string_view text) {
  return std::string{text.substr(0, text.find('\n'))};
}

struct Meaning {
  std::string_view sign;
  Errc code;
};

constexpr std::array<Meaning, 3> kCodes{
    {{"28000", Errc::denied}, {"28P01", Errc::denied}, {"3D000", Errc::invalid_argument}}};

// Of libpq's own words.
constexpr std::array<Meaning, 12> kWords{{{"expected authentication request", Errc::corrupt},
                                          {"invalid response to SSL negotiation", Errc::corrupt},
                                          {"no password supplied", Errc::denied},
                                          {"unexpected eof", Errc::unavailable},
                                          {"SSL error: ", Errc::denied},
                                          {"certificate", Errc::denied},
                                          {"does not match host name", Errc::denied},
                                          {"does not support SSL", Errc::denied},
                                          {"authentication method", Errc::denied},
                                          {"channel binding", Errc::denied},
                                          {"invalid target_session_attrs", Errc::invalid_argument},
                                          {"invalid integer value", Errc::invalid_argument}}};

}  // namespace

Error error_at(std::string_view server, Errc code, std::string_view what) {
  return {code, std::string{kEngine} + std::string{server} + ": " + std::string{what}};
}

Failure failure_of(std::string_view server, std::string_view said) {
  const Said what = read(said);
  std::string text = first_line(what.text);
  if (text.empty()) text = "it closed the connection";
  const auto lasting = [&](Errc code) {
    return Failure{error_at(server, code, text), Failure::Cause::lasting};
  };
  if (!what.code.empty()) {
    text += " (SQLSTATE " + std::string{what.code} + ')';
    const auto known = std::ranges::find(kCodes, what.code, &Meaning::sign);
    return known != kCodes.end() ? lasting(known->code)
                                 : Failure{error_at(server, Errc::unavailable, text)};
  }
  for (const Meaning& meaning : kWords) {
    if (text.find(meaning.sign) == std::string::npos) continue;
    if (meaning.code == Errc::unavailable) break;
    return meaning.code == Errc::corrupt ? stranger(server) : lasting(meaning.code);
  }
  return {error_at(server, Errc::unavailable, text)};
}

Failure stranger(std::string_view server) {
  return {error_at(server, Errc::corrupt, "it does not answer as a PostgreSQL server does"),
          Failure::Cause::lasting};
}

bool begins_as_postgres(char first) {
  // Answers to the requests for TLS and for GSS encryption; authentication, an error, a version.
  return std::string_view{"SNGREv"}.find(first) != std::string_view::npos;
}

Failure all_of(const std::vector<Failure>& failures) {
  if (failures.size() == 1) return failures.front();
  Failure all{{failures.front().error.code, ""}, Failure::Cause::lasting};
  for (const Failure& failure : failures) {
    const Error& error = failure.error;
    if (error.code != all.error.code) all.error.code = Errc::unavailable;
    if (failure.cause == Failure::Cause::passing) all.cause = Failure::Cause::passing;
    all.error.message += (all.error.message.empty() ? "" : "; ") + error.message;
    std::string_view server{error.message};
    server.remove_prefix(kEngine.size());
    server = server.substr(0, server.find(": "));
    all.error.nodes.push_back({std::string{server}, error.message});
  }
  return all;
}

}  // namespace holdfast::postgres
