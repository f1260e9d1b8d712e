#include "engines/zookeeper/driver/failure.h"

#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "base/decimal.h"

namespace holdfast::zookeeper {
namespace {

struct Meaning {
  int code;
  Errc errc;
  std::string_view what;
};

/// Nobody lowers the limit below this.
constexpr std::size_t kLarge = 16 * 1024;

// What is not here broke the connection, so that nobody knows.
constexpr std::array<Meaning, 9> kMeanings{
    {{ZNOAUTH, Errc::denied, "no right to "},
     {ZINVALIDACL, Errc::denied, "who is not known by user and password cannot own "},
     {ZBADARGUMENTS, Errc::invalid_argument, "not a valid path: "},
     {ZSESSIONEXPIRED, Errc::lost, "the session is over; not done: "},
     {ZSESSIONMOVED, Errc::unavailable, "the session is at another server; not done: "},
     {ZNOTREADONLY, Errc::unavailable, "the server takes no changes now; not done: "},
     {ZTHROTTLEDOP, Errc::unavailable, "the server has too much to do; not done: "},
     {ZUNIMPLEMENTED, Errc::internal, "the server cannot do that, it may be too old: "},
     {ZEPHEMERALONLOCALSESSION, Errc::internal, "the session is local and cannot own "}}};

}  // namespace

Error error_at(std::string_view server, Errc code, std::string_view what) {
  return {code, "ZooKeeper " + std::string{server} + ": " + std::string{what}};
}

std::optional<Verdict> verdict_of(int code) {
  switch (code) {
    case ZOK:
      return Verdict::done;
    case ZNONODE:
      return Verdict::no_node;
    case ZNODEEXISTS:
      return Verdict::node_exists;
    case ZBADVERSION:
      return Verdict::bad_version;
    case ZNOTEMPTY:
      return Verdict::not_empty;
    case ZNOCHILDRENFOREPHEMERALS:
      return Verdict::no_children_allowed;
    default:
      return std::nullopt;
  }
}

Error failure_of(std::string_view server, int code, std::string_view path) {
  const auto known = std::ranges::find(kMeanings, code, &Meaning::code);
  if (known != kMeanings.end()) {
    return error_at(server, known->errc, std::string{known->what} + std::string{path});
  }
  if (code > ZAPIERROR) {
    return error_at(
        server, Errc::unknown_outcome, "the connection broke before a request was answered");
  }
  return error_at(
      server, Errc::internal, std::string{zerror(code)} + ", asked for " + std::string{path});
}

void explain_size(Error& error, std::size_t request_bytes) {
  if (error.code != Errc::unknown_outcome || request_bytes < kLarge) return;
  error.message += "; it had " + std::to_string(request_bytes) +
                   " bytes, which may be more than the server takes (jute.maxbuffer)";
  error.remedy_text = "store less in one value, or raise jute.maxbuffer at every server";
}

std::string cause_in(std::string_view log_message) {
  constexpr std::string_view kLabel = "errno=";
  const std::size_t at = log_message.find(kLabel);
  if (at == std::string_view::npos) return {};
  log_message.remove_prefix(at + kLabel.size());
  const auto number = parse_decimal<int>(log_message.substr(0, log_message.find('(')));
  if (!number || *number == 0) return {};
  // EHOSTDOWN is how the client spells the end of the stream.
  if (*number == EHOSTDOWN || *number == EPIPE || *number == ECONNRESET) {
    return std::string{kClosed};
  }
  return std::generic_category().message(*number);
}

std::string server_in(std::string_view log_message) {
  constexpr std::string_view kLabel = "Socket ";
  const std::size_t at = log_message.find(kLabel);
  if (at == std::string_view::npos) return {};
  log_message.remove_prefix(at + kLabel.size());
  return std::string{log_message.substr(0, log_message.find(' '))};
}

bool begins_as_zookeeper(std::string_view bytes) {
  // Its length, without and with the byte that older servers do not send, and protocol 0.
  constexpr std::string_view kOld{"\0\0\0\x24\0\0\0\0", 8};
  constexpr std::string_view kNew{"\0\0\0\x25\0\0\0\0", 8};
  const std::string_view head = bytes.substr(0, kNew.size());
  return kNew.starts_with(head) || kOld.starts_with(head);
}

}  // namespace holdfast::zookeeper
