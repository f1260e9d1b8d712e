#include "tests/contract/redlock_nodes.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "client/redlock_admin.h"
#include "holdfast/options.h"

namespace holdfast::contract {
namespace {

void found(const std::string& url) {
  const redlock::Founding founding{.longest_ttl = kTtlMax};
  const auto set = found_redlock(url, founding, nullptr, {});
  if (!set) throw std::runtime_error{"cannot found the set: " + set.error().message};
}

}  // namespace

/// Listens in the place of a server, and answers nonsense to whatever comes.
struct RedlockNodes::Raving {
  explicit Raving(const std::string& path) {
    std::filesystem::remove(path);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto* const any = reinterpret_cast<const sockaddr*>(&address);
    if (bind(listener, any, sizeof address) != 0 || listen(listener, 64) != 0) {
      throw std::runtime_error{"cannot listen at " + path};
    }
    thread = std::thread{[this] { rave(); }};
  }

  ~Raving() {
    shutdown(listener, SHUT_RDWR);
    thread.join();
    close(listener);
  }
  Raving(const Raving&) = delete;
  Raving& operator=(const Raving&) = delete;

  void rave() const {
    constexpr std::string_view kNonsense = "%%% HTTP/1.1 418\r\n:seven\r\n*-9\r\n$oops\r\n";
    for (int peer = accept(listener, nullptr, nullptr); peer >= 0;
         peer = accept(listener, nullptr, nullptr)) {
      std::array<char, 4096> words{};
      if (read(peer, words.data(), words.size()) > 0) {
        send(peer, kNonsense.data(), kNonsense.size(), MSG_NOSIGNAL);
      }
      close(peer);
    }
  }

  int listener{-1};
  std::thread thread;
};

RedlockNodes::RedlockNodes(std::size_t count, const Trouble& trouble) {
  for (std::size_t node = 0; node < count; ++node) {
    nodes_.push_back(std::make_unique<ports::RedisProcess>());
    url_ += (node == 0 ? "redlock+unix://" : ",") + nodes_.back()->socket();
  }
  found(url_);
  std::size_t next = 0;
  for (std::size_t i = 0; i < trouble.down; ++i) nodes_[next++]->kill();
  for (std::size_t i = 0; i < trouble.hung; ++i) nodes_[next++]->pause();
  for (std::size_t i = 0; i < trouble.raving; ++i) {
    nodes_[next]->kill();
    raving_.push_back(std::make_unique<Raving>(nodes_[next++]->socket()));
  }
}

RedlockNodes::~RedlockNodes() = default;

}  // namespace holdfast::contract
