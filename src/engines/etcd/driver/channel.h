// Channels to the endpoints of a target.

#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/security/credentials.h>

#include <memory>

#include "engines/etcd/driver/etcd_target.h"
#include "holdfast/result.h"

namespace holdfast::etcd {

using Credentials = std::shared_ptr<grpc::ChannelCredentials>;

/// Reads the files of the TLS settings. invalid_argument: one of them cannot be used.
Result<Credentials> make_credentials(const EtcdTarget& target);

/// Connects to nothing yet.
std::shared_ptr<grpc::Channel> make_channel(const Endpoint& endpoint,
                                            const EtcdTarget& target,
                                            const Credentials& credentials,
                                            Duration ping_every);

}  // namespace holdfast::etcd
