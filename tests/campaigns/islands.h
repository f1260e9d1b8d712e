// Islands: hosts of the test's own, each in a network namespace, that can be cut off from each
// other. For root.
//
//     Islands islands{3};
//     islands.run(0, "etcd …", "0.log");
//     islands.cut_off(0);

#pragma once

#include <sys/types.h>

#include <deque>
#include <filesystem>
#include <string>

namespace holdfast::campaigns {

/// Runs a shell command to its end. What it printed. Throws when it fails.
std::string shell(const std::string& command);

/// A program in the background, by the shell; killed at the end.
class Background {
 public:
  explicit Background(const std::string& command);
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

 private:
  pid_t pid_;
};

/// Hosts at one bridge, and a directory for all of them.
///
/// Thread safety: none. Lifetime: what runs on them ends with them. Throws when the kernel refuses.
class Islands {
 public:
  explicit Islands(int count);
  ~Islands();
  Islands(const Islands&) = delete;
  Islands& operator=(const Islands&) = delete;

  int count() const { return count_; }
  static std::string address(int island) { return "10.99.0." + std::to_string(island + 1); }
  const std::filesystem::path& directory() const { return directory_; }

  /// Begins a command on the island.
  std::string at(int island) const { return "ip netns exec " + space(island) + ' '; }
  /// Starts a server there. What it says goes to that file of the directory.
  void run(int island, const std::string& command, const std::string& log);

  /// Nothing reaches the island or leaves it. Who is on it still hears each other.
  void cut_off(int island);

 private:
  std::string space(const std::string& what) const;
  std::string space(int island) const { return space(std::to_string(island)); }
  void connect(int island);

  int count_;
  std::filesystem::path directory_;
  std::deque<Background> servers_;
};

/// A process of this test program, on an island. What it says is a word and a time, line by line.
class Actor {
 public:
  /// Started with the name of its part and one more word.
  Actor(const Islands& islands, int island, const std::string& part, const std::string& word);

  /// When it said so, in nanoseconds of the BootClock; waited for. Zero, and a failure: never.
  long long when(const std::string& word) const;

  /// How a part says something. Thread safety: any thread.
  static void say(const std::string& word);

 private:
  std::filesystem::path said_;
  Background process_;
};

}  // namespace holdfast::campaigns
