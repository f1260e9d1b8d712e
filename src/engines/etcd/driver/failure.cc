#include "engines/etcd/driver/failure.h"

#include <grpcpp/support/status.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace holdfast::etcd {
namespace {

using Fate = Failure::Fate;
using Trust = Failure::Endpoint;

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// What an error says, and what it means.
struct Sign {
  std::string_view text;
  Fate fate;
  Errc code;
  Trust endpoint{Trust::good};
};

// The first that fits. Texts are etcd's and gRPC's own: codes alone do not tell these apart.
constexpr std::array kSigns{
    Sign{"no leader", Fate::not_run, Errc::unavailable, Trust::doubtful},
    Sign{"raft proposal dropped", Fate::not_run, Errc::unavailable, Trust::doubtful},
    Sign{"leader changed", Fate::unknown, Errc::unknown_outcome},
    Sign{"invalid auth token", Fate::token, Errc::denied},
    Sign{"revision of auth store is old", Fate::token, Errc::denied},
    Sign{"user name is empty", Fate::refused, Errc::denied},
    Sign{"authentication failed", Fate::refused, Errc::denied},
    Sign{"requested lease not found", Fate::refused, Errc::lost},
    Sign{"database space exceeded", Fate::refused, Errc::no_space},
    Sign{"too many requests", Fate::refused, Errc::unavailable},
    Sign{"larger than max", Fate::refused, Errc::invalid_argument},
    Sign{"http2 header with status", Fate::not_here, Errc::corrupt, Trust::doubtful},
};

/// No connection came about, which says that nothing was sent.
constexpr std::array<std::string_view, 3> kNotConnected{
    "failed to connect to all addresses", "DNS resolution failed", "empty address list"};

/// Why it did not, in words that say more than gRPC's.
struct ConnectSign {
  enum class Cause : std::uint8_t { left_out, shown };

  std::string_view text;
  Fate fate;
  Errc code;
  std::string_view what;
  Cause cause{Cause::left_out};
};

constexpr std::string_view kEndedAtOnce =
    "the server ended the connection at once: does one side alone use TLS (etcds:), or does the "
    "server want another certificate?";
constexpr std::string_view kNoTls = "no TLS connection: ";

constexpr std::array kConnectSigns{
    ConnectSign{"http1.x server", Fate::not_here, Errc::corrupt, "is not etcd: it speaks HTTP/1"},
    ConnectSign{
        "parsing HTTP/2", Fate::not_here, Errc::corrupt, "is not etcd: it does not speak HTTP/2"},
    ConnectSign{"SETTINGS frame",
                Fate::not_run,
                Errc::unavailable,
                "does not answer in time as etcd does: is it etcd?"},
    ConnectSign{"andshake failed", Fate::not_here, Errc::denied, kNoTls, ConnectSign::Cause::shown},
    ConnectSign{"Peer name", Fate::not_here, Errc::denied, kNoTls, ConnectSign::Cause::shown},
    ConnectSign{"ertificate", Fate::not_here, Errc::denied, kNoTls, ConnectSign::Cause::shown},
    ConnectSign{"Endpoint read failed", Fate::not_run, Errc::unavailable, kEndedAtOnce},
    ConnectSign{"Socket closed", Fate::not_run, Errc::unavailable, kEndedAtOnce},
};

/// The end of what gRPC says, without the addresses it tried: `Connection refused`.
std::string cause_in(std::string text) {
  constexpr std::string_view kLast = "last error: ";
  if (const std::size_t at = text.rfind(kLast); at != std::string::npos) {
    text.erase(0, at + kLast.size());
  }
  for (const std::string_view noise : {"etcdserver: ", "UNKNOWN: ", "UNAVAILABLE: "}) {
    if (text.starts_with(noise)) text.erase(0, noise.size());
  }
  for (const std::string_view noise : {"ipv4:", "ipv6:", "Failed to connect"}) {
    const std::size_t end = text.find(": ");
    if (text.starts_with(noise) && end != std::string::npos) text.erase(0, end + 2);
  }
  // The system begins its sentences with a capital letter; ours go on after a colon.
  if (text.starts_with("Connection")) text[0] = 'c';
  return text;
}

Failure not_connected(const std::string& endpoint, const std::string& text) {
  const auto sign =
      std::ranges::find_if(kConnectSigns, [&](const ConnectSign& s) { return has(text, s.text); });
  if (sign == kConnectSigns.end()) {
    return {Fate::not_run, error_at(endpoint, Errc::unavailable, cause_in(text)), Trust::doubtful};
  }
  std::string what{sign->what};
  if (sign->cause == ConnectSign::Cause::shown) what += cause_in(text);
  return {sign->fate, error_at(endpoint, sign->code, what), Trust::doubtful};
}

Failure refusal(const std::string& endpoint, Errc code, const std::string& text) {
  return {Fate::refused, error_at(endpoint, code, cause_in(text)), Trust::good};
}

std::optional<Failure> by_text(const std::string& endpoint, const std::string& text) {
  const auto sign = std::ranges::find_if(kSigns, [&](const Sign& s) { return has(text, s.text); });
  if (sign == kSigns.end()) return std::nullopt;
  const std::string what =
      sign->code == Errc::corrupt ? "is not etcd: " + cause_in(text) : cause_in(text);
  return Failure{sign->fate, error_at(endpoint, sign->code, what), sign->endpoint};
}

Failure by_code(const std::string& endpoint, grpc::StatusCode code, const std::string& text) {
  switch (code) {
    case grpc::PERMISSION_DENIED:
    case grpc::UNAUTHENTICATED:
      return refusal(endpoint, Errc::denied, text);
    case grpc::INVALID_ARGUMENT:
    case grpc::OUT_OF_RANGE:
      return refusal(endpoint, Errc::invalid_argument, text);
    case grpc::NOT_FOUND:
    case grpc::ALREADY_EXISTS:
    case grpc::FAILED_PRECONDITION:
      return refusal(endpoint, Errc::internal, text);
    case grpc::RESOURCE_EXHAUSTED:
      return refusal(endpoint, Errc::no_space, text);
    case grpc::DATA_LOSS:
      return refusal(endpoint, Errc::corrupt, text);
    case grpc::UNIMPLEMENTED:
      return {Fate::not_here,
              error_at(endpoint, Errc::corrupt, "is not etcd: " + cause_in(text)),
              Trust::doubtful};
    case grpc::DEADLINE_EXCEEDED:
      return {Fate::unknown,
              error_at(endpoint, Errc::unknown_outcome, "no answer in time"),
              Trust::doubtful};
    default:
      return {Fate::unknown,
              error_at(endpoint, Errc::unknown_outcome, cause_in(text)),
              Trust::doubtful};
  }
}

}  // namespace

Error error_at(const std::string& endpoint, Errc code, const std::string& what) {
  return {code, "etcd " + endpoint + ": " + what};
}

Failure failure_of(const std::string& endpoint, const grpc::Status& status) {
  const std::string& text = status.error_message();
  const bool is_connected =
      std::ranges::none_of(kNotConnected, [&](std::string_view sign) { return has(text, sign); });
  if (!is_connected) return not_connected(endpoint, text);
  if (auto known = by_text(endpoint, text)) return *std::move(known);
  return by_code(endpoint, status.error_code(), text);
}

}  // namespace holdfast::etcd
