// What URLs that are shown to people have in common.

#pragma once

#include <string>
#include <vector>

#include "base/percent.h"
#include "core/server_url.h"

namespace holdfast {

/// The servers of an engine and the user, without a password: `user@host:port,host:port`.
inline std::string shown_servers(const std::string& user,
                                 const std::vector<core::Endpoint>& endpoints) {
  std::string shown = user.empty() ? user : percent_encode(user, "-._~") + '@';
  for (const core::Endpoint& endpoint : endpoints) {
    if (&endpoint != &endpoints.front()) shown += ',';
    shown += endpoint.text();
  }
  return shown;
}

/// Adds `&parameter=value`, unless the value is empty.
inline void add_parameter(std::string& shown, const char* parameter, const std::string& value) {
  if (!value.empty()) shown += '&' + std::string{parameter} + '=' + percent_encode(value);
}

}  // namespace holdfast
