#include "engines/local/membership.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <system_error>

#include "base/assert.h"
#include "base/signals_blocked.h"
#include "engines/local/futex.h"
#include "engines/local/pool.h"

namespace holdfast::local {
namespace {

enum Phase : int { kJoining, kJoined, kFailed, kWorking, kIdle, kLeaving };

// The kernel wakes a waiter on a dead holder's futex only if this bit says that there is one.
std::uint32_t life_of_this_thread() {
  return static_cast<std::uint32_t>(syscall(SYS_gettid)) | FUTEX_WAITERS;
}

void store_host(Member& member) {
  std::array<char, Member::kHostBytes> host{};
  gethostname(host.data(), host.size() - 1);
  for (std::size_t i = 0; i < host.size(); ++i) member.host[i].store(host[i]);
}

}  // namespace

bool is_alive(const Member& member) {
  const std::uint32_t life = member.life.load();
  return life != 0 && (life & FUTEX_OWNER_DIED) == 0;
}

// What the kernel reads when the thread dies, by whatever cause: the one futex the thread holds,
// and one it may be about to take. The list's node lies in this process's memory at a fixed
// distance from the futex, so that no address of this process stands in the file.
struct Membership::RobustList {
  robust_list_head head{};
  robust_list node{};

  RobustList() {
    head.list.next = &head.list;
    syscall(SYS_set_robust_list, &head, sizeof head);
  }
  void aim_at(const std::atomic<std::uint32_t>& life) {
    head.futex_offset = reinterpret_cast<const char*>(&life) - reinterpret_cast<const char*>(&node);
  }
  void about_to_take(const std::atomic<std::uint32_t>& life) {
    const auto address =
        reinterpret_cast<std::uintptr_t>(&life) - static_cast<std::uintptr_t>(head.futex_offset);
    set_pending(reinterpret_cast<robust_list*>(address));
  }
  void nothing_pending() { set_pending(nullptr); }
  void hold() {
    node.next = &head.list;
    head.list.next = &node;
    nothing_pending();
  }
  void let_go() {
    set_pending(&node);
    head.list.next = &head.list;
  }

 private:
  // The kernel reads it behind the compiler's back.
  void set_pending(robust_list* entry) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    const_cast<robust_list* volatile&>(head.list_op_pending) = entry;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
};

Result<std::unique_ptr<Membership>> Membership::join(StateFile& file) {
  std::unique_ptr<Membership> membership{new Membership{file}};
  std::error_code failure;
  try {
    const SignalsBlocked blocked;
    membership->thread_ = std::thread{[raw = membership.get()] { raw->run(raw->phase_); }};
  } catch (const std::system_error& error) {
    failure = error.code();
  }
  if (failure) {
    return Unexpected{Error{Errc::unavailable, "cannot start a thread: " + failure.message()}};
  }
  membership->phase_.wait(kJoining);
  if (membership->phase_.load() == kJoined) return membership;
  return Unexpected{Error{Errc::no_space, "cannot make room for a process in " + file.path()}};
}

Membership::~Membership() {
  if (!thread_.joinable()) return;
  const bool failed = phase_.exchange(kLeaving) == kFailed;
  phase_.notify_all();
  if (!failed) wake();
  thread_.join();
}

void Membership::start_chores(Chores chores) {
  chores_ = std::move(chores);
  phase_.store(kWorking);
  phase_.notify_all();
}

void Membership::stop_chores() {
  int working = kWorking;
  if (!phase_.compare_exchange_strong(working, kIdle)) return;
  // The thread answers by moving on to kJoined, where it waits for the end.
  while (phase_.load() == kIdle) {
    wake();
    phase_.wait(kIdle);
  }
}

void Membership::wake() {
  record().mail.fetch_add(1);
  futex_wake(record().mail, 1);
}

void Membership::run(std::atomic<int>& started) {
  RobustList robust;
  robust_ = &robust;
  if (!claim_record()) {
    started.store(kFailed);
    started.notify_all();
    return;
  }
  record().pid.store(static_cast<std::uint32_t>(getpid()));
  store_host(record());
  started.store(kJoined);
  started.notify_all();
  loop();
  robust.let_go();
  record().life.store(0);
  robust.nothing_pending();
}

void Membership::loop() {
  while (true) {
    phase_.wait(kJoined);
    while (phase_.load() == kWorking) {
      const std::uint32_t mail = record().mail.load();
      Rest rest = chores_();
      rest.words.insert(rest.words.begin(), {.word = &record().mail, .expected = mail});
      if (rest.words.size() > kFutexWaitsMax) rest.words.resize(kFutexWaitsMax);
      if (phase_.load() == kWorking) futex_wait_any(rest.words, rest.until);
    }
    if (phase_.load() == kLeaving) return;
    phase_.store(kJoined);
    phase_.notify_all();
  }
}

bool Membership::claim_record() {
  auto& first = file_.header().members;
  for (Ref ref = first.load(); ref != 0; ref = file_.at<Member>(ref).next.load()) {
    if (claim(ref)) return true;
  }
  const auto fresh = allocate(file_, Kind::member);
  if (!fresh) return false;
  Ref head = first.load();
  // Published while free: if somebody else claims it at once, so be it; there is always another.
  do {
    file_.at<Member>(*fresh).next.store(head);
  } while (!first.compare_exchange_weak(head, *fresh));
  return claim(*fresh) || claim_record();
}

bool Membership::claim(Ref candidate) {
  Member& member = file_.at<Member>(candidate);
  if (member.life.load() != 0) return false;
  robust_->aim_at(member.life);
  robust_->about_to_take(member.life);
  std::uint32_t nobody = 0;
  if (!member.life.compare_exchange_strong(nobody, life_of_this_thread())) {
    robust_->nothing_pending();
    return false;
  }
  robust_->hold();
  ref_ = candidate;
  return true;
}

bool Membership::begin_burial(Ref dead) {
  HOLDFAST_ASSERT(dead != ref_);
  Member& member = file_.at<Member>(dead);
  std::uint32_t life = member.life.load();
  const bool unburied = (life & FUTEX_OWNER_DIED) != 0 && (life & FUTEX_TID_MASK) == 0;
  if (!unburied) return false;
  robust_->about_to_take(member.life);
  // Dead to everybody all the while, and dead without an undertaker again if this process dies.
  if (member.life.compare_exchange_strong(life, life_of_this_thread() | FUTEX_OWNER_DIED)) {
    return true;
  }
  robust_->nothing_pending();
  return false;
}

void Membership::end_burial(Ref dead, Burial outcome) {
  Member& member = file_.at<Member>(dead);
  member.life.store(outcome == Burial::complete ? 0 : FUTEX_OWNER_DIED | FUTEX_WAITERS);
  robust_->nothing_pending();
}

}  // namespace holdfast::local
