#include "client/diagnose_etcd.h"

#include <utility>

#include "client/shown_etcd_url.h"
#include "engines/etcd/doctor/cluster_findings.h"
#include "engines/etcd/doctor/examine.h"

namespace holdfast {

Result<Diagnosis> diagnose_etcd(std::string_view url, std::optional<Millis> ttl) {
  const auto parsed = etcd::parse_etcd_url(url);
  if (!parsed) return Unexpected{parsed.error()};
  const auto env = runtime::AsioEnv::create();
  if (!env) return Unexpected{env.error()};
  auto driver = etcd::EtcdDriver::create(**env, parsed->target);
  if (!driver) return Unexpected{std::move(driver).error()};
  auto facts = etcd::examine(**env, *driver, *parsed);
  if (!facts) return Unexpected{facts.error()};
  facts->ttl_asked = ttl;
  return Diagnosis{.engine = shown_etcd_url(*parsed), .findings = etcd::findings_of(*facts)};
}

}  // namespace holdfast
