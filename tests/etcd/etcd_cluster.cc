#include "tests/etcd/etcd_cluster.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "base/assert.h"
#include "holdfast/clock.h"

namespace holdfast::etcd {
namespace {

/// Far longer than an election takes on a busy machine.
constexpr std::chrono::seconds kBound{60};

std::string node_name(std::size_t number) { return "n" + std::to_string(number); }

std::vector<std::string> tls_arguments(const EtcdTls& tls) {
  if (tls.cert_file.empty()) return {};
  return {"--cacert", tls.ca_file, "--cert", tls.cert_file, "--key", tls.key_file};
}

[[noreturn]] void become_ctl(int out, std::vector<char*>& arguments) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(out, STDERR_FILENO);
  execv(HOLDFAST_ETCDCTL, arguments.data());
  _exit(127);
}

Spoken run_ctl(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int ends[2];
  HOLDFAST_ASSERT(pipe2(ends, O_CLOEXEC) == 0);
  const pid_t child = fork();
  HOLDFAST_ASSERT(child >= 0);
  if (child == 0) become_ctl(ends[1], arguments);
  close(ends[1]);
  Spoken spoken;
  char bytes[4096];
  for (ssize_t got = 0; (got = read(ends[0], bytes, sizeof bytes)) > 0;) {
    spoken.text.append(bytes, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  HOLDFAST_ASSERT(waitpid(child, &status, 0) == child);
  spoken.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return spoken;
}

}  // namespace

EtcdCluster::EtcdCluster(Shape shape) : shape_{std::move(shape)} {
  std::vector<EtcdPorts> ports(shape_.nodes);
  std::string members;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (i > 0) members += ',';
    members += node_name(i) + "=http://127.0.0.1:" + std::to_string(ports[i].peers);
  }
  for (std::size_t i = 0; i < ports.size(); ++i) {
    nodes_.emplace_back(node_name(i), ports[i], members, shape_.settings).start();
  }
  wait_until_healthy();
}

std::string EtcdCluster::endpoints() const {
  std::string all;
  for (const EtcdProcess& node : nodes_) all += (all.empty() ? "" : ",") + node.endpoint();
  return all;
}

std::optional<std::size_t> EtcdCluster::leader() const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    // An old leader that lost the others says it leads until it notices, and is not healthy.
    if (nodes_[i].metric("etcd_server_is_leader") == "1" && nodes_[i].is_healthy()) return i;
  }
  return std::nullopt;
}

std::size_t EtcdCluster::wait_for_leader() const {
  for (const TimePoint end = BootClock::now() + kBound; BootClock::now() < end;) {
    if (const auto found = leader()) return *found;
    poll(nullptr, 0, /*timeout_ms=*/10);
  }
  std::fprintf(stderr, "etcd has no leader: see %s\n", nodes_.front().directory().c_str());
  std::abort();
}

void EtcdCluster::wait_until_healthy() {
  for (EtcdProcess& node : nodes_) {
    if (node.is_running()) node.wait_until_healthy();
  }
}

Spoken EtcdCluster::etcdctl(const std::vector<std::string>& words) const {
  const EtcdTls& tls = shape_.settings.tls;
  std::string urls;
  for (const EtcdProcess& node : nodes_) {
    urls += (urls.empty() ? "" : ",");
    urls += (tls.cert_file.empty() ? "http://" : "https://") + node.endpoint();
  }
  std::vector<std::string> all{"etcdctl", "--endpoints", urls};
  for (const auto& more : {tls_arguments(tls), shape_.ctl_arguments, words}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return run_ctl(std::move(all));
}

std::string EtcdCluster::must(const std::vector<std::string>& words) const {
  Spoken spoken = etcdctl(words);
  if (spoken.status == 0) return std::move(spoken.text);
  std::fprintf(stderr, "etcdctl %s: %s\n", words.front().c_str(), spoken.text.c_str());
  std::abort();
}

void EtcdCluster::enable_auth(const std::string& root_password,
                              const std::string& name,
                              const std::string& password,
                              const std::string& prefix) {
  must({"user", "add", "root:" + root_password});
  must({"user", "grant-role", "root", "root"});
  must({"user", "add", name + ":" + password});
  must({"role", "add", name});
  must({"role", "grant-permission", name, "readwrite", prefix, "--prefix"});
  must({"user", "grant-role", name, name});
  must({"auth", "enable"});
  shape_.ctl_arguments.push_back("--user=root:" + root_password);
}

}  // namespace holdfast::etcd
