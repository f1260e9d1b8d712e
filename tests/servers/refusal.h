// What a program sees of servers that refuse it.

#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "holdfast/client.h"

namespace holdfast::servers {

/// Of the URLs that refusal() tries.
inline constexpr std::chrono::seconds kTimeout{2};
/// What a busy machine adds to it at most.
inline constexpr std::chrono::seconds kSlack{8};

/// An error that names the server and the cause.
inline void expect_error(const Error& error,
                         Errc code,
                         const std::string& server,
                         const std::string& cause) {
  EXPECT_EQ(error.code, code) << error.message;
  EXPECT_NE(error.message.find(server), std::string::npos) << error.message;
  EXPECT_NE(error.message.find(cause), std::string::npos) << error.message;
}

/// Connecting fails, within the timeout and what a busy machine adds.
inline Error refusal(const std::string& url) {
  const TimePoint begin = BootClock::now();
  const auto client =
      Client::connect(url + (url.find('?') == std::string::npos ? "?" : "&") + "timeout=2s");
  EXPECT_LT(BootClock::now() - begin, kTimeout + kSlack);
  return client ? Error{Errc::internal, "connected"} : client.error();
}

inline Client connected(const std::string& url) {
  auto client = Client::connect(url);
  if (!client) throw std::runtime_error{client.error().message};
  return *std::move(client);
}

}  // namespace holdfast::servers
