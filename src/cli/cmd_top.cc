#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>

#include "cli/command.h"
#include "cli/signals.h"
#include "cli/top/looker.h"
#include "cli/top/screen.h"
#include "cli/wall_time.h"

namespace holdfast::cli {
namespace {

struct TopArguments {
  std::string prefix;
  std::string every{"1s"};
  bool once{false};
};

enum class Key { none, quit };

Key read_key() {
  char key = 0;
  const ssize_t size = read(STDIN_FILENO, &key, 1);
  // A terminal that hung up types no more.
  return size == 0 || (size < 0 && errno != EINTR) || key == 'q' || key == 'Q' ? Key::quit
                                                                               : Key::none;
}

void stop_as_asked(Screen& screen) {
  screen.hide();
  raise(SIGSTOP);
  screen.show();
}

/// Gives the exit code: 0 after q, 128+n after signal n.
int show_until_quit(Looker& looker, const UniqueFd& signals, const Console& console) {
  const Paint paint = [&](std::string_view text, Tone tone) { return console.paint(text, tone); };
  Screen screen;
  for (;;) {
    const Looker::Look look = looker.latest();
    if (look.head.wall_ms != 0) {
      screen.paint(board_lines(look.head, look.rows, Screen::size(), paint));
    }
    std::array<pollfd, 3> events{
        pollfd{STDIN_FILENO, POLLIN, 0}, {signals.get(), POLLIN, 0}, {looker.fd(), POLLIN, 0}};
    poll(events.data(), events.size(), -1);
    if (events[0].revents != 0 && read_key() == Key::quit) return to_int(ExitCode::ok);
    while (const int signal = next_signal(signals.get())) {
      if (signal == SIGTSTP) {
        stop_as_asked(screen);
      } else if (signal != SIGWINCH) {
        return exit_code_of_signal(signal);
      }
    }
  }
}

int stream_json(Looker& looker, const UniqueFd& signals, Console& console) {
  for (;;) {
    std::array<pollfd, 2> events{pollfd{signals.get(), POLLIN, 0}, {looker.fd(), POLLIN, 0}};
    poll(events.data(), events.size(), -1);
    while (const int signal = next_signal(signals.get())) {
      if (signal != SIGWINCH && signal != SIGTSTP) return exit_code_of_signal(signal);
    }
    if (events[1].revents == 0) continue;
    const Looker::Look look = looker.latest();
    if (look.head.trouble) return console.fail(*look.head.trouble);
    console.print(board_json(look.head, look.rows));
    if (std::fflush(stdout) != 0) return to_int(ExitCode::ok);
  }
}

int print_once(Client& client, const std::string& prefix, Console& console) {
  auto locks = client.list(prefix);
  if (!locks) return console.fail(locks.error());
  LockBoard board;
  const BoardHead head{.engine = client.engine(),
                       .wall_ms = wall_now_ms(),
                       .trouble = {},
                       .refusals = look_at_refusals(client)};
  board.look(std::move(*locks), BootClock::now(), head.wall_ms);
  if (console.json()) {
    console.print(board_json(head, board.rows()));
    return to_int(ExitCode::ok);
  }
  const Paint paint = [&](std::string_view text, Tone tone) { return console.paint(text, tone); };
  const bool terminal = isatty(STDOUT_FILENO) == 1;
  const ScreenSize size{.columns = terminal ? Screen::size().columns : 500};
  for (const std::string& line : board_lines(head, board.rows(), size, paint)) console.print(line);
  return to_int(ExitCode::ok);
}

int top(const Invocation& invocation, const TopArguments& arguments, Console& console) {
  const auto every = duration_option("--every", arguments.every);
  if (!every) return console.fail(every.error());
  const bool screen = !arguments.once && !console.json();
  if (screen && (isatty(STDIN_FILENO) != 1 || isatty(STDOUT_FILENO) != 1)) {
    return console.fail({Errc::invalid_argument,
                         "top needs a terminal",
                         "use --once, or --json for one object per look"});
  }
  // Before any thread, so that all of them leave these signals alone.
  const UniqueFd signals =
      arguments.once ? UniqueFd{}
                     : open_signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP});
  auto client = Client::connect(invocation.engine);
  if (!client) return console.fail(client.error());
  if (arguments.once) return print_once(*client, arguments.prefix, console);
  constexpr Millis kEveryMin{50};
  Looker looker{std::move(*client), arguments.prefix, std::max(*every, kEveryMin)};
  return screen ? show_until_quit(looker, signals, console) : stream_json(looker, signals, console);
}

}  // namespace

void add_top(CLI::App& app, Invocation& invocation) {
  auto* command =
      app.add_subcommand("top", "Watch who holds and who waits, the busiest lock first");
  auto arguments = std::make_shared<TopArguments>();
  command->add_option("PREFIX", arguments->prefix, "Only names that begin with this");
  command->add_option("--every", arguments->every, "How often to look (default 1s)")
      ->type_name("TIME");
  command->add_flag("--once", arguments->once, "Print what is there now and exit");
  command->footer(
      "\nq quits. WAITING and HELD are the longest of those that wait and hold now; HAND-OVER/S "
      "are\n"
      "changes of holder seen between looks, over ten seconds: quicker ones than --every are "
      "missed.\n"
      "The last line has the stale operations that were refused to commands, and to programs "
      "that\n"
      "observe with a TimesRecorder: all since the first, then by resource, whatever PREFIX is; "
      "'-'\n"
      "where the engine has no store. With --json, one object per look.\n"
      "\nExamples:\n"
      "  holdfast top\n"
      "  holdfast top reports/ --every 200ms\n"
      "  holdfast top --once --json | jq '.locks[] | {name, waiters: (.waiters | length)}'");
  command->callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments](Console& console) {
      return top(invocation, *arguments, console);
    };
  });
}

}  // namespace holdfast::cli
