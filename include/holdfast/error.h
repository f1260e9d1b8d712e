// Errors are values: a code to branch on, a sentence for people, and what to do about it.

#pragma once

#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace holdfast {

/// What went wrong. Each code says what happened and what the caller should do.
enum class Errc {
  /// Somebody else holds the lock. A normal answer: wait for it, or do something else.
  busy = 1,
  /// Waited as long as asked and nothing is held. Try again, or wait longer.
  timeout,
  /// The caller's stop_token asked to stop waiting. Nothing is held.
  cancelled,
  /// The engine could not be reached. Check the address and the server, then try again.
  unavailable,
  /// Asked, and no answer came: the operation may or may not have happened. Repeat it with the same
  /// owner: acquire and release are idempotent per owner.
  unknown_outcome,
  /// The lease is gone; somebody else may hold the lock. Stop acting, acquire again.
  lost,
  /// The resource has seen a newer token. Stop: another holder has taken over.
  stale_token,
  /// The resource is protected by another lock domain. Use that lock, or rebase the resource.
  wrong_domain,
  /// Somebody changed the value first. Read it again and decide anew.
  version_conflict,
  /// Every attempt met a change by somebody else. Try again later, or take a lock.
  too_many_conflicts,
  /// Somebody is running it now. Wait for the result, or ask again later.
  in_progress,
  /// There is no such lock or key. Check the name.
  not_found,
  /// Not permitted. Check permissions and credentials.
  denied,
  /// The call itself is wrong, and the message names the field. Correct it; nothing was touched.
  invalid_argument,
  /// This engine cannot do that, and the message says why. Ask for less or use another engine.
  unsupported,
  /// Stored state is damaged or foreign. Nothing was changed; see the message for the remedy.
  corrupt,
  /// The operating system refused an operation on Holdfast's files. See the message.
  io_error,
  /// No room for more state. Free some space; held locks are not affected.
  no_space,
  /// The client is being destroyed, or the process has forked since it connected. Connect anew.
  shutting_down,
  /// A defect in Holdfast. Please report it with the message.
  internal,
};

/// The code's name as JSON and logs spell it, such as "unknown_outcome".
std::string_view to_string(Errc code) noexcept;

/// One sentence on what to do about it.
std::string_view remedy(Errc code) noexcept;

const std::error_category& error_category() noexcept;
std::error_code make_error_code(Errc code) noexcept;

/// What one server of an engine answered. Empty for engines without servers.
struct NodeError {
  std::string node;
  std::string message;
};

/// A code, a sentence that names the cause, and the remedy. Never contains credentials.
struct Error {
  Errc code{Errc::internal};
  /// What happened, for people.
  std::string message;
  /// What to do, for people. Empty: the code's own remedy says it.
  std::string remedy_text{};
  std::vector<NodeError> nodes{};

  Error() = default;
  Error(Errc code_in) : code{code_in}, message{to_string(code_in)} {}
  Error(Errc code_in, std::string message_in, std::string remedy_in = {})
      : code{code_in}, message{std::move(message_in)}, remedy_text{std::move(remedy_in)} {}

  std::string_view remedy() const noexcept {
    return remedy_text.empty() ? holdfast::remedy(code) : std::string_view{remedy_text};
  }
};

}  // namespace holdfast

template <>
struct std::is_error_code_enum<holdfast::Errc> : std::true_type {};
