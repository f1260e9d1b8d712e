// Directs two real processes through a scene, and writes down what happened.
//
// Every step waits for its event: the answer of the process, or the kernel's word that it stopped.
// After a step that failed all others do nothing; finish() tells.

#pragma once

#include <functional>
#include <string>

#include "holdfast/result.h"
#include "lab/actor.h"
#include "lab/timeline.h"

namespace holdfast::lab {

struct SceneOptions {
  std::string engine;
  std::string subject;
  Access access{Access::plain};
  /// Stored before the scene begins.
  std::int64_t initial{0};
  /// What each process adds to what it read.
  std::int64_t change{1};
  Millis ttl{300};
  int interrupt{-1};
};

class Stage {
 public:
  static Result<Stage> make(SceneOptions options);

  void acquire(Who who);
  /// Does nothing unless the scene's access is open_first.
  void open(Who who);
  void read(Who who);
  void decide(Who who);
  /// Does nothing when the process has declined.
  void write(Who who);
  void release(Who who);
  void stop(Who who);
  void resume(Who who);

  /// Whether the process's last write was refused.
  bool refused(Who who) const;

  Result<Scene> finish();

 private:
  Stage(SceneOptions options, Actor a, Actor b);

  Actor& actor(Who who) { return who == Who::a ? a_ : b_; }
  void prepare();
  std::optional<Report> tell(Who who, Verb verb, std::int64_t number = 0);
  void note(Who who, Step step, TimePoint at, const Report& report = {});
  void signal(Who who, Step step, Result<void> (Actor::*send)());

  SceneOptions options_;
  Actor a_;
  Actor b_;
  TimePoint start_;
  Scene scene_;
  Result<void> state_;
};

/// What is to happen.
using Script = std::function<void(Stage&)>;

/// Plays a script. Plays it again when the machine was too slow for it: a process lost its lease
/// before its time.
Result<Scene> play(const SceneOptions& options, const Script& script);

}  // namespace holdfast::lab
