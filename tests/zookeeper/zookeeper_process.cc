#include "tests/zookeeper/zookeeper_process.h"

#include <signal.h>

#include <fstream>

namespace holdfast::zookeeper {
namespace {

void write_configuration(const std::filesystem::path& file,
                         const std::filesystem::path& data,
                         const ZookeeperPorts& ports,
                         const std::vector<std::string>& members,
                         const ZookeeperSettings& settings) {
  std::ofstream out{file};
  out << "clientPort=" << ports.clients << "\nclientPortAddress=127.0.0.1\n"
      << "dataDir=" << data.string() << "\ntickTime=" << settings.tick.count()
      << "\nminSessionTimeout=" << settings.min_session_timeout.count()
      << "\nmaxSessionTimeout=" << settings.max_session_timeout.count()
      << "\nmaxClientCnxns=" << settings.max_connections
      << "\nadmin.enableServer=false\n4lw.commands.whitelist=*\n"
      // Its log would take 64 MB from the start; in KB.
      << "preAllocSize=1024\n";
  if (settings.without_fsync) out << "forceSync=no\n";
  if (!members.empty()) out << "initLimit=60\nsyncLimit=" << settings.sync_limit << '\n';
  for (const std::string& member : members) out << member << '\n';
  for (const std::string& line : settings.lines) out << line << '\n';
}

std::vector<std::string> command_for(const std::filesystem::path& file,
                                     const ZookeeperSettings& settings) {
  // Quick to start and small, rather than fast in the long run.
  std::vector<std::string> command{HOLDFAST_JAVA,
                                   "-Xms32m",
                                   "-Xmx192m",
                                   "-XX:+UseSerialGC",
                                   "-XX:TieredStopAtLevel=1",
                                   "-XX:-UsePerfData",
                                   "-Dorg.slf4j.simpleLogger.defaultLogLevel=info",
                                   "-Dorg.slf4j.simpleLogger.showDateTime=true"};
  command.insert(command.end(), settings.java.begin(), settings.java.end());
  const std::filesystem::path jar = HOLDFAST_ZOOKEEPER_JAR;
  command.insert(command.end(),
                 {"-cp", jar.string() + ':' + (jar.parent_path() / "slf4j-simple.jar").string()});
  command.insert(command.end(), {"org.apache.zookeeper.server.quorum.QuorumPeerMain", file});
  return command;
}

}  // namespace

ZookeeperProcess::ZookeeperProcess(int number,
                                   const ZookeeperPorts& ports,
                                   const std::vector<std::string>& members,
                                   const ZookeeperSettings& settings)
    : ports_{ports},
      endpoint_{"127.0.0.1:" + std::to_string(ports.clients)},
      process_{"zookeeper"} {
  const std::filesystem::path file = directory() / "zoo.cfg";
  const std::filesystem::path data = directory() / "data";
  std::filesystem::create_directory(data);
  if (!members.empty()) std::ofstream{data / "myid"} << number << '\n';
  write_configuration(file, data, ports, members, settings);
  process_.set_command(command_for(file, settings));
}

void ZookeeperProcess::wait_until_healthy() {
  process_.wait_until([this] { return is_healthy(); });
}

void ZookeeperProcess::restart() {
  kill();
  start();
  wait_until_healthy();
}

void ZookeeperProcess::kill() { process_.end(SIGKILL); }

void ZookeeperProcess::stop() { process_.end(SIGTERM); }

std::string ZookeeperProcess::tell(const std::string& word) const {
  if (!is_running() || process_.is_paused()) return {};
  return servers::ask(ports_.clients, word);
}

std::string ZookeeperProcess::mode() const {
  const std::string said = tell("srvr");
  const std::string label = "\nMode: ";
  const std::size_t at = said.find(label);
  if (at == std::string::npos) return {};
  const std::size_t from = at + label.size();
  return said.substr(from, said.find('\n', from) - from);
}

}  // namespace holdfast::zookeeper
