#include "engines/zookeeper/driver/farewell.h"

#include <sys/socket.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <memory>

#include "base/due_timer.h"
#include "runtime/end_registry.h"

namespace holdfast::zookeeper {
namespace {

constexpr std::chrono::seconds kPatience{5};
/// Its length, a number that is given back, and the code that closes a session.
constexpr std::array<unsigned char, 12> kCloseRequest{
    0, 0, 0, 8, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xf5};

// A connection that is closed with something unread is reset, and a reset may overtake the request.
class Farewell final : public runtime::EndsWithContext {
 public:
  Farewell(runtime::AsioEnv& env, int descriptor)
      : EndsWithContext{env.context()},
        wire_{env.context(), descriptor},
        limit_{env, [this] { end_with_context(); }} {
    limit_.set(env.now() + kPatience);
  }

  void read() {
    const auto got = [self = shared_from_this(), this](const boost::system::error_code& failed,
                                                       std::size_t) {
      if (!failed) read();
    };
    wire_.async_read_some(boost::asio::buffer(ignored_), got);
  }

  void end_with_context() override {
    boost::system::error_code ignored;
    wire_.close(ignored);
  }

 private:
  boost::asio::posix::stream_descriptor wire_;
  std::array<char, 4096> ignored_{};
  DueTimer limit_;
};

}  // namespace

void say_farewell(runtime::AsioEnv& env, int descriptor) {
  const auto farewell = std::make_shared<Farewell>(env, descriptor);
  // A few bytes find room, or the connection is of no use.
  send(descriptor, kCloseRequest.data(), kCloseRequest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  farewell->read();
}

}  // namespace holdfast::zookeeper
