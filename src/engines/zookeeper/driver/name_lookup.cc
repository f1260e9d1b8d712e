#include "engines/zookeeper/driver/name_lookup.h"

#include <boost/asio/ip/tcp.hpp>
#include <tuple>

#include "base/completion.h"
#include "engines/zookeeper/driver/failure.h"

namespace holdfast::zookeeper {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

using Found = std::tuple<boost::system::error_code, tcp::resolver::results_type>;

/// The port is what stands after the last colon.
void append(std::string& servers, const asio::ip::address& address, std::uint16_t port) {
  if (!servers.empty()) servers += ',';
  servers += address.to_string() + ':' + std::to_string(port);
}

}  // namespace

std::string servers_by_address(const std::vector<core::Endpoint>& endpoints) {
  std::string servers;
  for (const core::Endpoint& endpoint : endpoints) {
    boost::system::error_code is_name;
    const auto address = asio::ip::make_address(endpoint.host, is_name);
    if (is_name) return {};
    append(servers, address, endpoint.port);
  }
  return servers;
}

Task<Result<std::string>> look_up_servers(runtime::AsioEnv& env,
                                          const std::vector<core::Endpoint>& endpoints) {
  // It looks names up on a thread of its own.
  const runtime::AsioEnv::Unwatched unwatched{env};
  tcp::resolver resolver{env.context()};
  std::string servers;
  Error not_found;
  for (const core::Endpoint& endpoint : endpoints) {
    const std::string service = std::to_string(endpoint.port);
    const auto resolve = [&](auto handler) {
      resolver.async_resolve(endpoint.host, service, std::move(handler));
    };
    const auto [failed, answers] = co_await completion<Found>(resolve);
    if (failed) not_found = error_at(endpoint.text(), Errc::unavailable, failed.message());
    for (const auto& answer : answers) append(servers, answer.endpoint().address(), endpoint.port);
  }
  if (servers.empty()) co_return Unexpected{not_found};
  co_return servers;
}

}  // namespace holdfast::zookeeper
