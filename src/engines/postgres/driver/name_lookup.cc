#include "engines/postgres/driver/name_lookup.h"

#include <boost/asio/ip/tcp.hpp>
#include <tuple>
#include <utility>

#include "base/completion.h"

namespace holdfast::postgres {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

using Found = std::tuple<boost::system::error_code, tcp::resolver::results_type>;

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
    const auto resolve = [&](auto handler) {
      resolver.async_resolve(host.host, host.port, std::move(handler));
    };
    const auto [failed, answers] = co_await completion<Found>(resolve);
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
