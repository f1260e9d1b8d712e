// Failure: what it means for a request that a call failed.

#pragma once

#include <cstdint>
#include <string>

#include "holdfast/result.h"

namespace grpc {
class Status;
}

namespace holdfast::etcd {

struct Failure {
  enum class Fate : std::uint8_t {
    /// It has not run and never will. Another endpoint, or this one later, may run it.
    not_run,
    /// The same, and this endpoint stays as it is until somebody changes something.
    not_here,
    /// It has not run, because the token that says who we are is not good any more.
    token,
    /// It may have run, or may still run.
    unknown,
    /// The cluster's answer is no.
    refused,
  };
  enum class Endpoint : std::uint8_t { good, doubtful };

  Fate fate{Fate::unknown};
  Error error;
  /// Whether to ask another one from now on.
  Endpoint endpoint{Endpoint::good};
};

/// `etcd host:port: what`.
Error error_at(const std::string& endpoint, Errc code, const std::string& what);

/// Of a call to `endpoint` that did not succeed.
Failure failure_of(const std::string& endpoint, const grpc::Status& status);

}  // namespace holdfast::etcd
