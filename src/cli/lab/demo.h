// What the demonstrations of `holdfast lab` have in common: options, pictures, exit codes.

#pragma once

#include <boost/json/array.hpp>
#include <csignal>
#include <functional>
#include <string>
#include <vector>

#include "cli/console.h"
#include "cli/lab/reports.h"
#include "cli/signals.h"
#include "holdfast/result.h"
#include "lab/scratch.h"
#include "lab/sheet.h"

namespace holdfast::cli {

struct DemoOptions {
  /// Names the demonstration, and its picture unless a file is given.
  std::string name;
  /// Where to write the picture; both empty: holdfast-lab-<name>.html here.
  std::string svg;
  std::string html;
  bool no_picture{false};
  bool keep{false};
};

/// What a demonstration is given.
struct Setting {
  std::string engine;
  /// Becomes readable when a signal asks for the end.
  int interrupt{-1};
  /// Called with a line for people before each part.
  std::function<void(const std::string&)> progress;
};

/// Writes what was asked for and gives the paths.
Result<std::vector<std::string>> write_pictures(const DemoOptions& options,
                                                const lab::Picture& picture);

/// The end of a demonstration's output: verdict, pictures, directory. Gives the exit code: 0, or 1
/// when something was not as it must be.
int conclude(Console& console,
             boost::json::object result,
             const std::vector<std::string>& differences,
             const std::vector<std::string>& pictures,
             const std::string& kept);

/// The reason, and the exit code; a signal's own when one asked for the end.
int give_up(Console& console, const Error& error, int interrupt);

/// Runs a demonstration in a directory of its own. `run` takes a Setting and gives a Result of a
/// report that reports.h and lab::draw() know. The process must not have started a thread.
template <class Run>
int demonstrate(Console& console, const DemoOptions& options, const Run& run) {
  const UniqueFd signals = open_signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT});
  const auto scratch = lab::Scratch::make(options.keep ? lab::Keep::yes : lab::Keep::no);
  if (!scratch) return console.fail(scratch.error());
  const auto report = run(Setting{
      .engine = scratch->engine(), .interrupt = signals.get(), .progress = [&](const auto& part) {
        console.note(console.paint("playing: " + part, Tone::faint));
      }});
  if (!report) return give_up(console, report.error(), signals.get());
  if (!console.json()) print(console, *report);
  const auto pictures = write_pictures(options, lab::draw(*report));
  if (!pictures) return console.fail(pictures.error());
  return conclude(console,
                  console.json() ? to_json(*report) : boost::json::object{},
                  report->differences(),
                  *pictures,
                  options.keep ? scratch->path() : "");
}

}  // namespace holdfast::cli
