#include "bench/zookeeper/server.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "bench/plain_request.h"

namespace holdfast::bench {
namespace {

constexpr auto kJars = "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-nop.jar";

/// Zero: there is none.
double number_after(std::string_view label, const std::string& text) {
  const std::size_t at = text.find(label);
  return at == std::string::npos ? 0 : std::strtod(&text[at + label.size()], nullptr);
}

}  // namespace

Result<std::unique_ptr<ZookeeperServer>> ZookeeperServer::start() {
  std::unique_ptr<ZookeeperServer> server{new ZookeeperServer};
  server->port_ = free_port();
  const std::string file = server->directory_.path() + "/zoo.cfg";
  const std::string data = server->directory_.path() + "/data";
  std::filesystem::create_directory(data);
  std::ofstream{file} << "clientPort=" << server->port_ << "\nclientPortAddress=127.0.0.1\n"
                      << "dataDir=" << data << "\ntickTime=1000\nmaxSessionTimeout=600000\n"
                      << "maxClientCnxns=0\nadmin.enableServer=false\n"
                      << "4lw.commands.whitelist=*\npreAllocSize=4096\n";
  // One compiler is enough to be warm soon, and leaves the processors to what is measured.
  std::vector<std::string> words{"java", "-Xms128m", "-Xmx512m", "-XX:+UseSerialGC"};
  words.insert(words.end(), {"-XX:TieredStopAtLevel=1", "-cp", kJars});
  words.insert(words.end(), {"org.apache.zookeeper.server.quorum.QuorumPeerMain", file});
  const auto serves = [&] {
    return plain_request(server->port_, "srvr").find("Mode: standalone") != std::string::npos;
  };
  const auto started = server->process_.start(
      std::move(words), serves, "install ZooKeeper, for example: apt-get install zookeeper");
  if (!started) return Unexpected{started.error()};
  return server;
}

double ZookeeperServer::requests() const {
  std::istringstream page{plain_request(port_, "cons")};
  double sum = 0;
  for (std::string line; std::getline(page, line);) {
    // Whoever asks now has no session.
    if (line.find("sid=") != std::string::npos) sum += number_after("recved=", line);
  }
  return sum;
}

double ZookeeperServer::watches() const {
  return number_after("Total watches:", plain_request(port_, "wchs"));
}

}  // namespace holdfast::bench
