// One standalone server for all tests of a program that leave it as it is.

#pragma once

#include "tests/zookeeper/zookeeper_ensemble.h"

namespace holdfast::zookeeper {

/// Started when it is first asked for. `super:secret` may do everything there.
inline ZookeeperEnsemble& shared_server() {
  static ZookeeperEnsemble server{{.settings = {.java = {kSuperuser}}}};
  return server;
}

}  // namespace holdfast::zookeeper
