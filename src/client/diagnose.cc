#include "client/diagnose.h"

#include <sys/stat.h>
#include <sys/vfs.h>

#include <utility>

#include "client/diagnose_etcd.h"
#include "client/diagnose_postgres.h"
#include "client/diagnose_redis.h"
#include "client/diagnose_zookeeper.h"
#include "client/engine_url.h"
#include "client/open_redis.h"
#include "client/redlock_url.h"
#include "core/limits.h"
#include "engines/etcd/driver/etcd_url.h"
#include "engines/local/state_dir.h"
#include "engines/postgres/driver/postgres_url.h"
#include "engines/zookeeper/driver/zookeeper_url.h"
#include "holdfast/client.h"

namespace holdfast {
namespace {

using core::Findings;
using core::Severity;

/// What can be wrong with a directory that the engine has accepted.
Findings directory_findings(const std::string& directory) {
  Findings found;
  struct stat entry {};
  if (stat(directory.c_str(), &entry) == 0 && (entry.st_mode & S_IWOTH) != 0) {
    found.push_back({"open_to_all",
                     Severity::danger,
                     "every user of this machine may change the files in " + directory +
                         ", and with them who holds a lock",
                     "chmod o-w " + directory});
  }
  struct statfs system {};
  if (statfs(directory.c_str(), &system) != 0) return found;
  constexpr long kTmpfs = 0x01021994;
  if (system.f_type == kTmpfs) {
    found.push_back({"memory_only",
                     Severity::warning,
                     directory +
                         " is in memory: what the store keeps is gone after a restart of the "
                         "machine",
                     "use a directory on a disk: local:/var/lib/holdfast"});
  }
  constexpr std::uint64_t kRoomMin = std::uint64_t{64} << 20;
  const auto room =
      static_cast<std::uint64_t>(system.f_bavail) * static_cast<std::uint64_t>(system.f_bsize);
  if (room < kRoomMin) {
    found.push_back({"disk_full",
                     Severity::warning,
                     "there are less than 64 MiB left for " + directory +
                         ": new names and writes to the store are refused when they are used up",
                     "free space there, or use another directory"});
  }
  return found;
}

Result<Diagnosis> diagnose_local(std::string_view url) {
  const auto parsed = parse_engine_url(url);
  if (!parsed) return Unexpected{parsed.error()};
  // Makes the directory, and refuses what cannot be used.
  const auto client = Client::connect(url);
  if (!client) return Unexpected{client.error()};
  std::string directory = parsed->directory;
  if (directory.empty()) {
    auto usual = local::default_directory();
    if (!usual) return Unexpected{usual.error()};
    directory = *std::move(usual);
  }
  return Diagnosis{.engine = client->engine(), .findings = directory_findings(directory)};
}

}  // namespace

Result<Diagnosis> diagnose(std::string_view url, std::optional<Millis> ttl) {
  if (ttl) {
    if (const auto checked = core::check_ttl(*ttl); !checked) return Unexpected{checked.error()};
  }
  if (is_redlock_url(url)) return diagnose_redlock(url);
  if (etcd::is_etcd_url(url)) return diagnose_etcd(url, ttl);
  if (zookeeper::is_zookeeper_url(url)) return diagnose_zookeeper(url, ttl);
  if (postgres::is_postgres_url(url)) return diagnose_postgres(url);
  return is_redis_url(url) ? diagnose_redis(url) : diagnose_local(url);
}

}  // namespace holdfast
