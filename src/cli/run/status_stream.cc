#include "cli/run/status_stream.h"

#include <unistd.h>

#include <boost/json/serialize.hpp>

namespace holdfast::cli {

void StatusStream::write(const boost::json::object& event) {
  if (!fd_) return;
  const std::string line = boost::json::serialize(event) + "\n";
  (void)!::write(fd_.get(), line.data(), line.size());
}

void StatusStream::acquired(const Grant& grant) {
  write({{"event", "acquired"},
         {"name", grant.name},
         {"token", grant.token.value()},
         {"ttl_ms", grant.ttl.count()}});
}

void StatusStream::started(pid_t pid) { write({{"event", "started"}, {"pid", pid}}); }

void StatusStream::lost(const Error& error) {
  write({{"event", "lost"}, {"reason", error.message}});
}

void StatusStream::released(ReleaseOutcome outcome) {
  write({{"event", "released"}, {"outcome", to_string(outcome)}});
}

void StatusStream::exit(const Verdict& verdict) {
  write({{"event", "exit"},
         {"code", verdict.code},
         {"holdfast", verdict.holdfast},
         {"reason", verdict.reason}});
}

}  // namespace holdfast::cli
