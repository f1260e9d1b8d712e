// Ports around an etcd port, with a defect each.

#pragma once

#include <cstdint>
#include <memory>

#include "engines/etcd/etcd_port.h"

namespace holdfast::sim {

using EtcdPortPtr = std::shared_ptr<etcd::EtcdPort>;

/// Finds no contenders, whoever there is.
EtcdPortPtr blind_to_others(EtcdPortPtr port);

/// Who leaves takes all contenders along.
EtcdPortPtr erasing_everybody(EtcdPortPtr port);

/// Keys have no lease, and outlive their process.
EtcdPortPtr without_leases(EtcdPortPtr port);

/// A contender's key has the session's lease in it and nothing of the acquisition.
EtcdPortPtr one_key_per_session(EtcdPortPtr port);

/// A keep-alive that nobody answered counts as answered.
EtcdPortPtr believing_in_keep_alives(EtcdPortPtr port);

/// Notes which lease was last put into a key.
EtcdPortPtr noting_leases(EtcdPortPtr port, std::shared_ptr<std::int64_t> last);

}  // namespace holdfast::sim
