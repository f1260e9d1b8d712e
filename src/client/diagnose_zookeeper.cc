#include "client/diagnose_zookeeper.h"

#include "client/shown_zookeeper_url.h"
#include "engines/zookeeper/doctor/ensemble_findings.h"
#include "engines/zookeeper/doctor/examine.h"

namespace holdfast {

Result<Diagnosis> diagnose_zookeeper(std::string_view url, std::optional<Millis> ttl) {
  const auto parsed = zookeeper::parse_zookeeper_url(url);
  if (!parsed) return Unexpected{parsed.error()};
  const auto env = runtime::AsioEnv::create();
  if (!env) return Unexpected{env.error()};
  auto facts = zookeeper::examine(**env, *parsed);
  if (!facts) return Unexpected{facts.error()};
  facts->ttl_asked = ttl;
  return Diagnosis{.engine = shown_zookeeper_url(*parsed),
                   .findings = zookeeper::findings_of(*facts)};
}

}  // namespace holdfast
