// RequestLine: requests and their answers over one connection.
//
// What is sent within one turn of the Env's loop leaves in one write; while a write is under way,
// the next batch gathers. Replies come in the order of the requests.
//
// One ring holds all requests: first those that were written, then those that were not. A single
// timer is set to the earliest deadline. Deadlines are mostly alike, so that it goes off rarely,
// and then looks at every request: cheaper than keeping them sorted for each.
//
// A connection is given up when a request is overdue and the server has been silent for some time,
// not for the deadline of one request, which may be short.
//
// Thread safety: none; it belongs to the Env's thread.

#pragma once

#include <boost/circular_buffer.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "engines/redis/driver/line.h"
#include "engines/redis/driver/resp_writer.h"

namespace holdfast::redis {

class RequestLine final : public Line {
 public:
  RequestLine(LineContext context, Duration silence);

  /// As RedisPort::send().
  void send(SharedCall call, TimePoint answer_by, OnAnswer on_answer);
  void command(std::vector<std::string> words, TimePoint answer_by, OnAnswer on_answer);

  /// Answers what has not left.
  void retire();

  void close() override;

  /// How many writes carried how many requests, and how often a script had to be sent again.
  std::uint64_t writes() const { return writes_; }
  std::uint64_t requests() const { return requests_written_; }
  std::uint64_t scripts_resent() const { return scripts_resent_; }

 private:
  enum class Form : std::uint8_t { evalsha, eval, words };

  struct Request {
    SharedCall call;
    std::vector<std::string> words;
    TimePoint answer_by;
    OnAnswer on_answer;
    Form form{Form::evalsha};
    /// Its deadline has passed: the reply is still to come and interests nobody.
    bool answered{false};
  };
  /// Requests that have lost their place, to be answered alike.
  using Requests = std::vector<Request>;

  void opened() override;
  void interrupted(const Failure& failure) override;
  bool needs_connection() const override { return ring_.size() > written_; }
  void on_reply(Reply reply) override;
  void on_replies_told() override;
  void on_output_left() override { flush(); }

  void add(Request request);
  void flush_soon();
  void flush();
  void encode_waiting(std::string& out);
  void send_again();
  void look_at_deadlines();
  void give_up_if_stuck(TimePoint now);
  Requests take_written();
  Requests take_waiting();
  Requests take_overdue_waiting(TimePoint now);
  Requests take_overdue_written(TimePoint now);
  void answer(Requests requests, const Error& error);
  Error never_left() const;

  boost::circular_buffer<Request> ring_;
  /// How many requests of the ring have been written.
  std::size_t written_{0};
  Duration silence_;
  /// When something was last heard, or first owed after that.
  TimePoint silent_since_{};
  ScriptBook scripts_;
  DueTimer deadline_timer_;
  bool flush_posted_{false};
  /// Replies are being told: what is sent meanwhile leaves together, after the last.
  bool telling_{false};
  std::uint64_t writes_{0};
  std::uint64_t requests_written_{0};
  std::uint64_t scripts_resent_{0};
};

}  // namespace holdfast::redis
