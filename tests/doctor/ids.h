// What a diagnosis found, for comparing.

#pragma once

#include <set>
#include <string>

#include "client/diagnose.h"

namespace holdfast {

inline std::set<std::string> ids(const Result<Diagnosis>& diagnosis) {
  std::set<std::string> all;
  if (!diagnosis) return {"error: " + diagnosis.error().message};
  for (const core::Finding& finding : diagnosis->findings) all.insert(finding.id);
  return all;
}

}  // namespace holdfast
