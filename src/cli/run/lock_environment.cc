#include "cli/run/lock_environment.h"

#include <fmt/format.h>

namespace holdfast::cli {
namespace {

void add(std::vector<std::string>& assignments, const Grant& grant, std::string_view number) {
  assignments.push_back(fmt::format("HOLDFAST_LOCK{}={}", number, grant.name));
  assignments.push_back(fmt::format("HOLDFAST_TOKEN{}={}", number, grant.token.value()));
  assignments.push_back(fmt::format("HOLDFAST_OWNER{}={}", number, grant.owner.to_string()));
  assignments.push_back(fmt::format("HOLDFAST_SEQUENCER{}={}", number, grant.sequencer));
}

}  // namespace

std::vector<std::string> environment_of(const std::vector<Grant>& grants, std::string_view engine) {
  std::vector<std::string> assignments{fmt::format("HOLDFAST_ENGINE={}", engine),
                                       fmt::format("HOLDFAST_LOCKS={}", grants.size())};
  add(assignments, grants.front(), "");
  for (std::size_t i = 0; i < grants.size(); ++i) {
    add(assignments, grants[i], fmt::format("_{}", i + 1));
  }
  return assignments;
}

}  // namespace holdfast::cli
