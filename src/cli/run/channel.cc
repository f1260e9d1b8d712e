#include "cli/run/channel.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/decimal.h"

namespace holdfast::cli {
namespace {

// Enough for the names and proofs of as many locks as a run may have.
constexpr std::size_t kMessageBytesMax = 128 * 1024;
constexpr std::string_view kAtOnce = "at once";
constexpr std::string_view kOnDemand = "on demand";

void send_bytes(int fd, std::string_view bytes) {
  // Whether the other side is still there is learnt by reading, not by writing.
  (void)send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

Incoming classify(ssize_t size) {
  if (size > 0) return Incoming::message;
  const bool nothing_yet = size < 0 && (errno == EAGAIN || errno == EINTR);
  return nothing_yet ? Incoming::nothing : Incoming::end;
}

}  // namespace

Result<std::pair<UniqueFd, UniqueFd>> open_channel() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return Unexpected{Error{Errc::io_error, std::string{"no socket pair: "} + strerror(errno)}};
  }
  return std::pair{UniqueFd{ends[0]}, UniqueFd{ends[1]}};
}

void send_start(int fd, const StartOrder& order) {
  std::string bytes = std::to_string(order.owners.size()) + '\0';
  for (const std::string& owner : order.owners) bytes += owner + '\0';
  bytes += order.terminal == TerminalUse::at_once ? kAtOnce : kOnDemand;
  bytes += '\0';
  for (const std::string& assignment : order.environment) bytes += assignment + '\0';
  send_bytes(fd, bytes);
}

void send_done(int fd) { send_bytes(fd, "."); }

void send_report(int fd, const Report& report) {
  send_bytes(fd, {reinterpret_cast<const char*>(&report), sizeof report});
}

std::optional<StartOrder> receive_start(int fd) {
  std::string bytes(kMessageBytesMax, '\0');
  ssize_t size = 0;
  do {
    size = recv(fd, bytes.data(), bytes.size(), 0);
  } while (size < 0 && errno == EINTR);
  if (size <= 0 || bytes[static_cast<std::size_t>(size) - 1] != '\0') return std::nullopt;
  StartOrder order;
  std::string_view rest{bytes.data(), static_cast<std::size_t>(size)};
  const auto take = [&] {
    const std::size_t end = rest.find('\0');
    std::string field{rest.substr(0, end)};
    rest.remove_prefix(end + 1);
    return field;
  };
  const auto owners = parse_decimal<std::size_t>(take());
  if (!owners) return std::nullopt;
  for (std::size_t i = 0; i < *owners; ++i) order.owners.push_back(take());
  order.terminal = take() == kAtOnce ? TerminalUse::at_once : TerminalUse::on_demand;
  while (!rest.empty()) order.environment.push_back(take());
  return order;
}

Incoming receive_report(int fd, Report& report) {
  return classify(recv(fd, &report, sizeof report, MSG_DONTWAIT));
}

Incoming receive_done(int fd) {
  char done = 0;
  return classify(recv(fd, &done, sizeof done, MSG_DONTWAIT));
}

}  // namespace holdfast::cli
