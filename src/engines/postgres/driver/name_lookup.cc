#include "engines/postgres/driver/name_lookup.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace holdfast::postgres {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

}  // namespace

Task<FoundHosts> look_up(runtime::AsioEnv& env, const std::vector<Host>& hosts) {
  // It looks names up on a thread of its own.
  const runtime::AsioEnv::Unwatched unwatched{env};
  tcp::resolver resolver{env.context()};
  FoundHosts found;
  for (const Host& host : hosts) {
    if (host.is_address()) {
      found.hosts.push_back(host);
      continue;
    }
    const auto [failed, answers] = co_await resolver.async_resolve(host.host, host.port, kAwait);
    if (failed) {
      found.failures.push_back({error_at(host.text(), Errc::unavailable, failed.message())});
    }
    for (const auto& answer : answers) {
      Host at = host;
      at.address = answer.endpoint().address().to_string();
      found.hosts.push_back(at);
    }
  }
  co_return found;
}

}  // namespace holdfast::postgres
