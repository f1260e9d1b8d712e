#include "engines/etcd/driver/completion_loop.h"

#include <utility>

#include "base/signals_blocked.h"

namespace holdfast::etcd {

CompletionLoop::CompletionLoop(Env& env) {
  const SignalsBlocked blocked;
  thread_ = std::thread{[this, &env] { run(env); }};
}

CompletionLoop::~CompletionLoop() {
  close();
  queue_.Shutdown();
  thread_.join();
  // What the Env was about to be told may outlive this, and callbacks should not.
  inbox_->ended.clear();
}

void CompletionLoop::close() {
  const std::lock_guard lock{inbox_->mutex};
  inbox_->open = false;
}

void CompletionLoop::run(Env& env) {
  void* tag = nullptr;
  for (bool ok = false; queue_.Next(&tag, &ok);) {
    const auto way = ok ? Completion::Way::well : Completion::Way::badly;
    const std::lock_guard lock{inbox_->mutex};
    inbox_->ended.push_back({std::unique_ptr<Completion>{static_cast<Completion*>(tag)}, way});
    // Under the lock: whoever has closed the inbox may destroy the Env next.
    if (inbox_->open && inbox_->ended.size() == 1) {
      env.post([inbox = inbox_] { hand_over(inbox); });
    }
  }
}

void CompletionLoop::hand_over(const std::shared_ptr<Inbox>& inbox) {
  std::vector<Ended> ended;
  {
    const std::lock_guard lock{inbox->mutex};
    ended.swap(inbox->ended);
  }
  for (Ended& one : ended) {
    if (!inbox->open) return;
    Completion& completion = *one.completion;
    completion.ended(std::move(one.completion), one.way);
  }
}

}  // namespace holdfast::etcd
