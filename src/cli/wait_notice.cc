#include "cli/wait_notice.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/text.h"

namespace holdfast::cli {
namespace {

constexpr Millis kPatience{500};

}  // namespace

WaitNotice::WaitNotice(Client client, std::vector<std::string> names, Format format)
    : client_{std::move(client)}, names_{std::move(names)} {
  if (format == Format::json || isatty(STDERR_FILENO) != 1) return;
  teller_ = std::jthread{[this](const std::stop_token& stop) { tell(stop); }};
}

void WaitNotice::tell(const std::stop_token& stop) {
  {
    std::unique_lock lock{mutex_};
    stopped_.wait_for(lock, stop, kPatience, [] { return false; });
  }
  if (stop.stop_requested()) return;
  const std::string all = fmt::format("{}", fmt::join(names_, ", "));
  std::string text = fmt::format("holdfast: waiting for '{}'", printable(all));
  // Of several, some are held by ourselves.
  if (names_.size() == 1) {
    const auto lock = client_.inspect(names_.front());
    if (lock && !lock->holders.empty()) text += ", held by " + describe(lock->holders.front());
  }
  fmt::print(stderr, "{}\n", text);
}

}  // namespace holdfast::cli
