// An etcd URL to show and to pass on: complete, and without passwords.

#pragma once

#include <string>

#include "engines/etcd/driver/etcd_url.h"

namespace holdfast {

/// Opens the same engine, if the password comes from its file or the environment.
std::string shown_etcd_url(const etcd::EtcdUrl& url);

}  // namespace holdfast
