// What the URLs of all engines with servers have in common.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "holdfast/result.h"

namespace holdfast::core {

/// Percent-decodes. Empty: a bad % sequence, or a NUL, which cannot be part of anything here.
std::optional<std::string> decode_url_text(std::string_view text);

/// Cuts what comes before `separator` off `rest`; everything when it is not there.
std::string_view cut(std::string_view& rest, char separator);

/// Whether the URL begins with a scheme, which is in small letters; the URL's may be in any.
bool has_scheme(std::string_view url, std::string_view scheme);

/// The value of `key=value`, where `text` is what came after the key and its `=`, or null without
/// one. invalid_argument: there is none, or it is not well-formed.
Result<std::string> parameter_value(const std::string& key,
                                    const std::optional<std::string_view>& text);

/// Every lock name begins with it, so that it must be the beginning of a good name, or empty.
Result<void> check_prefix(const std::string& prefix);

/// The first line of the file. io_error: it cannot be read.
Result<std::string> read_password_file(const std::string& name);

}  // namespace holdfast::core
