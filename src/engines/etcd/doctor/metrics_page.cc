#include "engines/etcd/doctor/metrics_page.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <functional>
#include <utility>

namespace holdfast::etcd {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::beast::tcp_stream;
using TlsStream = asio::ssl::stream<tcp_stream>;
using boost::system::error_code;

/// No page is longer.
constexpr std::uint64_t kPageMax = std::uint64_t{64} << 20;

/// One request and its answer, whatever the stream.
template <class Stream>
class Exchange {
 public:
  Exchange(Stream& stream, const std::string& host) : stream_{stream} {
    request_.method(http::verb::get);
    request_.target("/metrics");
    request_.version(11);
    request_.set(http::field::host, host);
    parser_.body_limit(kPageMax);
  }

  void begin(std::function<void(error_code)> on_end) {
    on_end_ = std::move(on_end);
    http::async_write(stream_, request_, [this](error_code failed, std::size_t) {
      if (failed) return on_end_(failed);
      http::async_read(
          stream_, buffer_, parser_, [this](error_code read, std::size_t) { on_end_(read); });
    });
  }

  const http::response<http::string_body>& response() { return parser_.get(); }

 private:
  Stream& stream_;
  http::request<http::empty_body> request_;
  boost::beast::flat_buffer buffer_;
  http::response_parser<http::string_body> parser_;
  std::function<void(error_code)> on_end_;
};

Unexpected<Error> failed(const Endpoint& endpoint, const std::string& what) {
  return Unexpected{Error{Errc::unavailable, "etcd " + endpoint.text() + ": /metrics: " + what}};
}

template <class Stream>
Result<std::string> fetch(asio::io_context& context, Stream& stream, const Endpoint& endpoint) {
  Exchange<Stream> exchange{stream, endpoint.text()};
  error_code outcome;
  exchange.begin([&](error_code ended) { outcome = ended; });
  context.restart();
  context.run();
  if (outcome) return failed(endpoint, outcome.message());
  if (exchange.response().result() != http::status::ok) {
    return failed(endpoint, "status " + std::to_string(exchange.response().result_int()));
  }
  return exchange.response().body();
}

Result<void> load_files(asio::ssl::context& tls, const TlsSettings& settings) {
  error_code bad;
  tls.set_verify_mode(asio::ssl::verify_peer, bad);
  if (!bad && settings.ca_file.empty()) tls.set_default_verify_paths(bad);
  if (!bad && !settings.ca_file.empty()) tls.load_verify_file(settings.ca_file, bad);
  if (!bad && !settings.cert_file.empty()) {
    tls.use_certificate_chain_file(settings.cert_file, bad);
    if (!bad) tls.use_private_key_file(settings.key_file, asio::ssl::context::pem, bad);
  }
  if (bad) return Unexpected{Error{Errc::invalid_argument, "TLS: " + bad.message()}};
  return {};
}

Result<std::string> fetch_tls(asio::io_context& context,
                              tcp_stream connected,
                              const TlsSettings& settings,
                              const Endpoint& endpoint) {
  asio::ssl::context tls{asio::ssl::context::tls_client};
  if (auto good = load_files(tls, settings); !good) return Unexpected{good.error()};
  TlsStream stream{std::move(connected), tls};
  const std::string& name = settings.server_name.empty() ? endpoint.host : settings.server_name;
  SSL_set_tlsext_host_name(stream.native_handle(), name.c_str());
  stream.set_verify_callback(asio::ssl::host_name_verification{name});
  error_code outcome;
  stream.async_handshake(asio::ssl::stream_base::client,
                         [&](error_code ended) { outcome = ended; });
  context.restart();
  context.run();
  if (outcome) return failed(endpoint, outcome.message());
  return fetch(context, stream, endpoint);
}

}  // namespace

Result<std::string> metrics_page(const EtcdTarget& target,
                                 const Endpoint& endpoint,
                                 Duration timeout) {
  asio::io_context context;
  tcp_stream stream{context};
  stream.expires_after(timeout);
  error_code outcome;
  asio::ip::tcp::resolver resolver{context};
  const auto found = resolver.resolve(endpoint.host, std::to_string(endpoint.port), outcome);
  if (outcome) return failed(endpoint, outcome.message());
  stream.async_connect(found, [&](error_code ended, const auto&) { outcome = ended; });
  context.run();
  if (outcome) return failed(endpoint, outcome.message());
  if (target.tls) return fetch_tls(context, std::move(stream), *target.tls, endpoint);
  return fetch(context, stream, endpoint);
}

}  // namespace holdfast::etcd
