// DriverLine: the requests, answers and events of one session.
//
// What is sent within one turn of the Env's loop leaves together. Requests wait until the session
// is connected, so that those that never left are known. What the client brings is told once the
// client's turn is over: whoever is told may end the session.
//
// Thread safety: none; it belongs to the Env's thread. Lifetime: shared. Whoever owns it calls
// abandon().

#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/task.h"
#include "engines/zookeeper/driver/client_calls.h"
#include "engines/zookeeper/driver/client_loop.h"

namespace holdfast::zookeeper {

/// What the sessions of a driver share.
struct SessionContext {
  runtime::AsioEnv& env;
  ZookeeperTarget target;
  ZookeeperDriverSettings settings;
  /// The chroot has been seen.
  bool knows_chroot{false};
  /// For tests and measurements.
  std::uint64_t requests{0};
  std::uint64_t connections{0};
};

class DriverLine final : public ClientLoop, private Answered {
 public:
  DriverLine(std::shared_ptr<SessionContext> context, SessionAsk ask, OnEvent on_event);
  ~DriverLine() override;

  /// Begins to connect, soon.
  void open();

  // As ZookeeperSession.

  void send(SharedRequest request, TimePoint answer_by, OnAnswer on_answer);
  void unwatch(const std::string& path);
  void close();

  /// Nobody is called back any more. Ends without ending the session, unless it is closing.
  void abandon();

  void end_with_context() override;

 private:
  /// What is to be told, in its order.
  struct Told {
    std::unique_ptr<Sending> sending;
    Result<Answer> answer;
  };
  using News = std::variant<Told, SessionEvent>;
  using Sendings = std::deque<std::unique_ptr<Sending>>;

  static Task<void> look_up_and_begin(std::shared_ptr<DriverLine> self);
  void begin_at(const std::string& servers);

  void connected() override;
  void disconnected(Was was, const Error& why) override;
  void expired() override;
  void refused(const Error& why) override;
  void turned() override;
  bool expects_answers() const override { return !sent_.empty(); }
  TimePoint silent_until() const override;

  void on_completion(Sending& sending, int code, Answer answer) override;
  void on_unwatch_failed(const std::string& path) override;
  void on_change(SessionEvent::Change change, std::string path) override;

  bool is_ready() const { return is_connected() && context_->knows_chroot; }
  std::shared_ptr<DriverLine> self();
  std::unique_ptr<Sending> fresh_sending();
  void look_for_chroot();
  void chroot_looked_for(const Result<Answer>& answer);
  void flush_soon();
  void flush();
  void hand_over_front();
  void tell();
  void tell_event(const SessionEvent& event);
  void tell_soon();
  void answer_soon(std::unique_ptr<Sending> sending, Error error);
  void answer_waiting(const Error& error);
  void look_at_deadlines();
  void take_overdue(TimePoint now);
  Error never_left() const;
  Answer shown(Answer answer) const;
  void say_goodbye();
  void end();
  void drop_callbacks();

  std::shared_ptr<SessionContext> context_;
  SessionAsk ask_;
  OnEvent on_event_;
  Sendings waiting_;
  /// With the client, in their order.
  Sendings sent_;
  std::deque<News> news_;
  /// Watches to forget once the client's turn is over.
  std::vector<std::string> to_forget_;
  DueTimer deadline_timer_;
  /// Why each server was not reached, since one was.
  std::map<std::string, Error> failures_;
  /// How many servers in a row have shown that they are none.
  std::size_t strangers_{0};
  /// When something was last heard, or first owed after that.
  TimePoint silent_since_{};
  bool flush_posted_{false};
  bool telling_{false};
  bool had_server_{false};
  bool over_{false};
  bool closing_{false};
  TimePoint close_until_{};
  /// While it is closing and nobody else keeps it.
  std::shared_ptr<DriverLine> keeps_itself_;
};

}  // namespace holdfast::zookeeper
