#include "cli/wait_notice.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/text.h"

namespace holdfast::cli {
namespace {

constexpr Millis kPatience{500};

}  // namespace

WaitNotice::WaitNotice(Client client, std::string name, Format format)
    : client_{std::move(client)}, name_{std::move(name)} {
  if (format == Format::json || isatty(STDERR_FILENO) != 1) return;
  teller_ = std::jthread{[this](const std::stop_token& stop) { tell(stop); }};
}

void WaitNotice::tell(const std::stop_token& stop) {
  {
    std::unique_lock lock{mutex_};
    stopped_.wait_for(lock, stop, kPatience, [] { return false; });
  }
  if (stop.stop_requested()) return;
  std::string text = fmt::format("holdfast: waiting for '{}'", printable(name_));
  const auto lock = client_.inspect(name_);
  if (lock && !lock->holders.empty()) text += ", held by " + describe(lock->holders.front());
  fmt::print(stderr, "{}\n", text);
}

}  // namespace holdfast::cli
