#include "engines/zookeeper/doctor/four_letter_word.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/tcp_stream.hpp>

namespace holdfast::zookeeper {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

/// No answer is longer.
constexpr std::size_t kAnswerMax = std::size_t{1} << 20;

}  // namespace

Result<std::string> four_letter_word(const core::Endpoint& endpoint,
                                     std::string_view word,
                                     Duration timeout) {
  const auto failed = [](const error_code& why) {
    return Unexpected{Error{Errc::unavailable, why.message()}};
  };
  asio::io_context context;
  boost::beast::tcp_stream stream{context};
  stream.expires_after(timeout);
  error_code outcome;
  asio::ip::tcp::resolver resolver{context};
  const auto found = resolver.resolve(endpoint.host, std::to_string(endpoint.port), outcome);
  if (outcome) return failed(outcome);
  std::string answer;
  stream.async_connect(found, [&](error_code connected, const auto&) {
    outcome = connected;
    if (connected) return;
    asio::async_write(stream, asio::buffer(word), [&](error_code written, std::size_t) {
      outcome = written;
      if (written) return;
      asio::async_read(
          stream, asio::dynamic_buffer(answer, kAnswerMax), [&](error_code ended, std::size_t) {
            const bool whole = ended == asio::error::eof;
            outcome = whole ? error_code{} : ended;
          });
    });
  });
  context.run();
  // A server that has closed without reading everything resets the connection.
  if (outcome && answer.empty()) return failed(outcome);
  return answer;
}

}  // namespace holdfast::zookeeper
