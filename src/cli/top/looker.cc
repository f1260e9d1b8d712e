#include "cli/top/looker.h"

#include <sys/eventfd.h>

#include <utility>

#include "base/assert.h"
#include "cli/wall_time.h"
#include "observe/kept_record.h"

namespace holdfast::cli {

std::optional<observe::RefusalRecord> look_at_refusals(Client& client) {
  auto store = client.store();
  if (!store) return std::nullopt;
  auto kept = observe::read_key<observe::RefusalRecord>(*store, observe::kRefusalsKey);
  if (!kept) return std::nullopt;
  return kept->value_or(observe::RefusalRecord{});
}

Looker::Looker(Client client, std::string prefix, Millis every)
    : client_{std::move(client)},
      prefix_{std::move(prefix)},
      every_{every},
      looked_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
  HOLDFAST_ASSERT(looked_);
  look_.head.engine = client_.engine();
  thread_ = std::jthread{[this](const std::stop_token& stop) { look_on(stop); }};
}

Looker::Look Looker::latest() {
  eventfd_t ignored = 0;
  eventfd_read(looked_.get(), &ignored);
  const std::lock_guard lock{mutex_};
  return look_;
}

void Looker::look_on(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    look();
    std::unique_lock lock{mutex_};
    stopped_.wait_for(lock, stop, every_, [] { return false; });
  }
}

void Looker::look() {
  auto locks = client_.list(prefix_);
  auto refusals = locks ? look_at_refusals(client_) : std::nullopt;
  const std::lock_guard lock{mutex_};
  look_.head.wall_ms = wall_now_ms();
  look_.head.trouble.reset();
  if (!locks) {
    look_.head.trouble = locks.error();
  } else {
    look_.head.refusals = std::move(refusals);
    board_.look(std::move(*locks), BootClock::now(), look_.head.wall_ms);
    look_.rows = board_.rows();
  }
  eventfd_write(looked_.get(), 1);
}

}  // namespace holdfast::cli
