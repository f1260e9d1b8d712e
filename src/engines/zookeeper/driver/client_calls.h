// Requests on their way through the C client: its calls and completions, in our words.

#pragma once

#include <memory>
#include <string>

#include "engines/zookeeper/driver/zookeeper_target.h"
#include "engines/zookeeper/zookeeper_port.h"

struct _zhandle;

namespace holdfast::zookeeper {

struct MultiRoom;
struct Sending;

/// Who hears of the client's answers, within calls of the client.
class Answered {
 public:
  /// The client is done with the request. `code` as the client gives it; `answer` lacks a verdict.
  virtual void on_completion(Sending& sending, int code, Answer answer) = 0;
  /// The watches of a path could not be forgotten at the server.
  virtual void on_unwatch_failed(const std::string& path) = 0;
  /// A node has changed; with the chroot.
  virtual void on_change(SessionEvent::Change change, std::string path) = 0;

 protected:
  ~Answered() = default;
};

/// A request from when it is sent until it is answered and the client is done with it.
struct Sending {
  explicit Sending(Answered& owner_in);
  ~Sending();

  Answered& owner;
  SharedRequest request{};
  TimePoint answer_by{};
  OnAnswer on_answer{};
  /// Unwatched before it left.
  bool watch_dropped{false};
  /// Its deadline has passed, or it was not asked for by anybody: what comes interests nobody.
  bool answered{false};
  /// Where the client puts the answers to the steps of a Multi.
  std::unique_ptr<MultiRoom> room;
};

/// Hands it to the client, which completes it later. The client's code; not ZOK: it did not take
/// it. `sending` stays where it is until it is completed.
int hand_over(_zhandle* client, Sending& sending, const ZookeeperTarget& target);

/// Forgets all watches of a path, at the server, too. The same of codes; `owner` outlives the
/// client.
int hand_over_unwatch(_zhandle* client, const std::string& path, Answered& owner);
/// The same, in the client alone.
void forget_watches(_zhandle* client, const std::string& path);

/// As servers see it.
std::string below(const std::string& chroot, const std::string& path);
/// The other way round.
std::string without(const std::string& chroot, std::string path);

}  // namespace holdfast::zookeeper
