#include "bench/zookeeper/bare_client.h"

#include <poll.h>
#include <zookeeper/zookeeper.h>

#include <vector>

#include "base/assert.h"
#include "holdfast/clock.h"

namespace holdfast::bench {
namespace {

using namespace std::chrono_literals;

constexpr int kTimeoutMs = 60'000;
constexpr Duration kPatience = 30s;
/// As long as the notes of the engine.
const std::string kNote(64, 'n');

void ignore_log(const char*) {}
void ignore_event(zhandle_t*, int, int, const char*, void*) {}

}  // namespace

/// An answer that is waited for.
struct BareZookeeper::Waiting {
  bool answered{false};
  int code{ZOK};
  int children{0};

  static Waiting& of(const void* data) {
    return *const_cast<Waiting*>(static_cast<const Waiting*>(data));
  }
  static void done(int code, const void* data) {
    of(data).code = code;
    of(data).answered = true;
  }
  static void created(int code, const char*, const Stat*, const void* data) { done(code, data); }
  static void read(int code, const char*, int, const Stat*, const void* data) { done(code, data); }
  static void listed(int code, const String_vector* names, const Stat*, const void* data) {
    if (names != nullptr) of(data).children = names->count;
    done(code, data);
  }
};

/// One of many that create and erase a node of their own.
struct BareZookeeper::Caller {
  zhandle_t* client;
  std::string path;
  TimePoint until;
  std::uint64_t pairs{0};
  bool ended{false};

  void create() {
    const int size = static_cast<int>(kNote.size());
    HOLDFAST_ASSERT(zoo_acreate2(client,
                                 path.c_str(),
                                 kNote.data(),
                                 size,
                                 &ZOO_OPEN_ACL_UNSAFE,
                                 ZOO_EPHEMERAL,
                                 &created,
                                 this) == ZOK);
  }
  static void created(int code, const char*, const Stat*, const void* data) {
    const auto* const caller = static_cast<const Caller*>(data);
    HOLDFAST_ASSERT(code == ZOK);
    HOLDFAST_ASSERT(zoo_adelete(caller->client, caller->path.c_str(), -1, &erased, data) == ZOK);
  }
  static void erased(int code, const void* data) {
    HOLDFAST_ASSERT(code == ZOK);
    auto* const caller = const_cast<Caller*>(static_cast<const Caller*>(data));
    ++caller->pairs;
    caller->ended = BootClock::now() >= caller->until;
    if (!caller->ended) caller->create();
  }
};

Result<std::unique_ptr<BareZookeeper>> BareZookeeper::connect(std::uint16_t port) {
  const std::string server = "127.0.0.1:" + std::to_string(port);
  zhandle_t* const client = zookeeper_init2(server.c_str(),
                                            &ignore_event,
                                            kTimeoutMs,
                                            nullptr,
                                            nullptr,
                                            ZOO_NO_LOG_CLIENTENV,
                                            &ignore_log);
  HOLDFAST_ASSERT(client != nullptr);
  zoo_set_servers_resolution_delay(client, -1);
  std::unique_ptr<BareZookeeper> bare{new BareZookeeper{client}};
  for (const TimePoint end = BootClock::now() + kPatience; BootClock::now() < end;) {
    if (zoo_state(client) == ZOO_CONNECTED_STATE) return bare;
    bare->step();
  }
  return Unexpected{Error{Errc::unavailable, "no ZooKeeper at " + server}};
}

BareZookeeper::~BareZookeeper() { zookeeper_close(client_); }

void BareZookeeper::step() {
  int descriptor = -1;
  int interest = 0;
  timeval within{};
  zookeeper_interest(client_, &descriptor, &interest, &within);
  const auto events = static_cast<short>(((interest & ZOOKEEPER_READ) != 0 ? POLLIN : 0) |
                                         ((interest & ZOOKEEPER_WRITE) != 0 ? POLLOUT : 0));
  pollfd ready{.fd = descriptor, .events = events, .revents = 0};
  const auto timeout_ms = static_cast<int>(within.tv_sec * 1000 + within.tv_usec / 1000);
  poll(&ready, 1, timeout_ms);
  const bool reads = (ready.revents & (POLLIN | POLLERR | POLLHUP)) != 0;
  int happened = (reads ? ZOOKEEPER_READ : 0);
  if ((ready.revents & POLLOUT) != 0) happened |= ZOOKEEPER_WRITE;
  // As many answers as there are.
  while (zookeeper_process(client_, happened) == ZOK && reads) happened = ZOOKEEPER_READ;
}

int BareZookeeper::wait_for(const Waiting& waiting) {
  while (!waiting.answered) step();
  return waiting.code;
}

void BareZookeeper::create(const std::string& path) {
  Waiting waiting;
  const int size = static_cast<int>(kNote.size());
  zoo_acreate2(client_,
               path.c_str(),
               kNote.data(),
               size,
               &ZOO_OPEN_ACL_UNSAFE,
               ZOO_EPHEMERAL,
               &Waiting::created,
               &waiting);
  HOLDFAST_ASSERT(wait_for(waiting) == ZOK);
}

void BareZookeeper::create_parent(const std::string& path) {
  Waiting waiting;
  zoo_acreate2(client_,
               path.c_str(),
               "",
               0,
               &ZOO_OPEN_ACL_UNSAFE,
               ZOO_PERSISTENT,
               &Waiting::created,
               &waiting);
  const int code = wait_for(waiting);
  HOLDFAST_ASSERT(code == ZOK || code == ZNODEEXISTS);
}

void BareZookeeper::erase(const std::string& path) {
  Waiting waiting;
  zoo_adelete(client_, path.c_str(), -1, &Waiting::done, &waiting);
  HOLDFAST_ASSERT(wait_for(waiting) == ZOK);
}

void BareZookeeper::on_erased(_zhandle*, int type, int, const char*, void* context) {
  if (type == ZOO_DELETED_EVENT) ++static_cast<BareZookeeper*>(context)->erasures_;
}

void BareZookeeper::watch(const std::string& path) {
  Waiting waiting;
  zoo_awget(client_, path.c_str(), &on_erased, this, &Waiting::read, &waiting);
  HOLDFAST_ASSERT(wait_for(waiting) == ZOK);
}

void BareZookeeper::wait() {
  while (erasures_ == heard_) step();
  heard_ = erasures_;
}

std::size_t BareZookeeper::children(const std::string& path) {
  Waiting waiting;
  zoo_awget_children2(client_, path.c_str(), nullptr, nullptr, &Waiting::listed, &waiting);
  const int code = wait_for(waiting);
  HOLDFAST_ASSERT(code == ZOK || code == ZNONODE);
  return static_cast<std::size_t>(waiting.children);
}

double BareZookeeper::rate(std::size_t callers, double seconds) {
  const TimePoint begun = BootClock::now();
  const auto length = std::chrono::duration_cast<Duration>(std::chrono::duration<double>{seconds});
  std::vector<Caller> all(callers);
  for (std::size_t i = 0; i < callers; ++i) {
    const std::string parent = "/bare/" + std::to_string(i);
    create_parent(parent);
    all[i] = {.client = client_, .path = parent + "/node", .until = begun + length};
  }
  const TimePoint started = BootClock::now();
  for (Caller& caller : all) {
    caller.until = started + length;
    caller.create();
  }
  std::uint64_t pairs = 0;
  for (Caller& caller : all) {
    while (!caller.ended) step();
  }
  for (const Caller& caller : all) pairs += caller.pairs;
  const std::chrono::duration<double> spent = BootClock::now() - started;
  return static_cast<double>(pairs) / spent.count();
}

}  // namespace holdfast::bench
