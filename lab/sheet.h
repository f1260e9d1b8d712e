// The pictures of the demonstrations as whole documents. Pure: a report goes in, text comes out.

#pragma once

#include <string>
#include <string_view>

#include "lab/bank.h"
#include "lab/naive.h"
#include "lab/pause.h"

namespace holdfast::lab {

/// A document and what it is called.
struct Picture {
  std::string title;
  std::string svg;
};

Picture draw(const PauseReport& report);
Picture draw(const BankReport& report);
Picture draw(const NaiveReport& report);

/// "1 update lost", "nothing lost".
std::string lost_words(std::int64_t lost);

/// The picture in a page that needs nothing else: no script, no file, no network.
std::string to_html(const Picture& picture);

}  // namespace holdfast::lab
