#include "core/holder_note.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include "base/decimal.h"
#include "base/fork.h"
#include "base/percent.h"
#include "base/wall_clock.h"

namespace holdfast::core {
namespace {

constexpr char kSeparator = '/';
// Neither the separator nor what engines separate their own fields by.
constexpr std::string_view kPlain = "-._~";

// Asked for once: a system call for every lock would be felt.
const std::string& host_name() {
  static const std::string name = [] {
    std::array<char, 256> host{};
    gethostname(host.data(), host.size() - 1);
    return std::string{host.data()};
  }();
  return name;
}

/// The same, but that a forked child has another.
int own_pid() {
  struct Known {
    std::uint32_t generation;
    int pid;
  };
  static std::atomic<Known> known{Known{fork_generation(), getpid()}};
  Known now = known.load(std::memory_order_relaxed);
  if (now.generation != fork_generation()) {
    now = {fork_generation(), getpid()};
    known.store(now, std::memory_order_relaxed);
  }
  return now.pid;
}

/// Cuts the first field off.
std::string_view next_field(std::string_view& text) {
  const std::size_t end = text.find(kSeparator);
  const std::string_view field = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  return field;
}

std::string to_text(std::string_view field) {
  return percent_decode(field).value_or(std::string{});
}

std::int64_t to_number(std::string_view field) {
  return parse_decimal<std::int64_t>(field).value_or(0);
}

}  // namespace

HolderNote make_note(std::string_view label, std::string_view trace_id) {
  return {.host = host_name(),
          .pid = own_pid(),
          .label = std::string{label},
          .trace_id = std::string{trace_id},
          .since_ms = wall_ms()};
}

std::string encode_note(const HolderNote& note) {
  static const std::string own_host = percent_encode(host_name(), kPlain);
  std::string text = note.host == host_name() ? own_host : percent_encode(note.host, kPlain);
  text += kSeparator + std::to_string(note.pid);
  text += kSeparator + percent_encode(note.label, kPlain);
  text += kSeparator + percent_encode(note.trace_id, kPlain);
  text += kSeparator + std::to_string(note.since_ms);
  return text;
}

HolderNote decode_note(std::string_view text) {
  HolderNote note;
  note.host = to_text(next_field(text));
  note.pid = to_number(next_field(text));
  note.label = to_text(next_field(text));
  note.trace_id = to_text(next_field(text));
  note.since_ms = to_number(next_field(text));
  return note;
}

void describe(Contender& contender, HolderNote note) {
  contender.host = std::move(note.host);
  contender.pid = note.pid;
  contender.label = std::move(note.label);
  contender.trace_id = std::move(note.trace_id);
  contender.since_ms = note.since_ms;
}

}  // namespace holdfast::core
