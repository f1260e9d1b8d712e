// A ZooKeeper URL to show and to pass on: complete, and without passwords.

#pragma once

#include <string>

#include "engines/zookeeper/driver/zookeeper_url.h"

namespace holdfast {

/// Opens the same engine, if the password comes from its file or the environment.
std::string shown_zookeeper_url(const zookeeper::ZookeeperUrl& url);

}  // namespace holdfast
