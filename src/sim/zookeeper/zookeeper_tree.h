// ZookeeperTree: the nodes of a model ZooKeeper, as one server has them.
//
// The same changes in the same order make the same tree. Which session may ask, and which change
// comes when, is ZookeeperEnsemble's part.
//
// Thread safety: none.

#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engines/zookeeper/zookeeper_messages.h"

namespace holdfast::sim {

class ZookeeperTree {
 public:
  /// What a watch of `path` is told.
  struct Change {
    std::string path;
    zookeeper::SessionEvent::Change what;
    friend bool operator==(const Change&, const Change&) = default;
  };
  struct Outcome {
    zookeeper::Answer answer;
    std::vector<Change> changes{};
  };

  ZookeeperTree();

  /// A request that writes, when the leader's wall clock shows `at`. Precondition: not a Read,
  /// Exists, List or Sync; `zxid` is above all before.
  Outcome apply(const zookeeper::Request& request,
                zookeeper::SessionId by,
                zookeeper::Zxid zxid,
                Millis at = {});

  /// Erases what is the session's.
  std::vector<Change> end_session(zookeeper::SessionId session, zookeeper::Zxid zxid);

  /// A Read, an Exists or a List.
  zookeeper::Answer look(const zookeeper::Request& request) const;

  bool has(const std::string& path) const { return nodes_.contains(path); }
  /// Null: there is no such node.
  const zookeeper::NodeStat* find(const std::string& path) const;

  /// Containers that had children and have none: the servers remove them.
  std::vector<std::string> idle_containers() const;

  /// As if so many children had been created. Precondition: the node is there.
  void count_creations(const std::string& path, std::int32_t creations);

 private:
  struct Node {
    std::string data;
    /// Without what follows from `creations` and `children`.
    zookeeper::NodeStat stat;
    /// Numbers sequential children. At the last number it stands still, as in ZooKeeper 3.8.
    std::int32_t creations{0};
    std::set<std::string> children{};
    bool container{false};

    zookeeper::NodeStat shown() const;
  };
  struct Step {
    zookeeper::SessionId by;
    zookeeper::Zxid zxid;
    Millis at;
    std::vector<Change>& changes;
  };

  zookeeper::Answer run(const zookeeper::Create& create, Step& step);
  zookeeper::Answer run(const zookeeper::Erase& erase, Step& step);
  zookeeper::Answer run(const zookeeper::Write& write, Step& step);
  zookeeper::Answer run(const zookeeper::Check& check, Step& step);
  zookeeper::Answer run(const zookeeper::Multi& multi, Step& step);
  void remove(const std::string& path, Step& step);

  std::map<std::string, Node> nodes_;
};

/// "/a" of "/a/b", "/" of "/a".
std::string parent_of(std::string_view path);

}  // namespace holdfast::sim
