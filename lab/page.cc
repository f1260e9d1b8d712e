#include <fmt/format.h>

#include "lab/sheet.h"
#include "lab/svg.h"

namespace holdfast::lab {

std::string to_html(const Picture& picture) {
  return fmt::format(
      R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{}</title>
<style>
body {{ margin: 0; background: #f4f5f8; }}
figure {{ margin: 0 auto; max-width: 1640px; overflow-x: auto; }}
figure > svg {{ display: block; width: 100%; min-width: 980px; height: auto; }}
@media (prefers-color-scheme: dark) {{ body {{ background: #12151d; }} }}
</style>
</head>
<body>
<figure>
{}</figure>
</body>
</html>
)",
      escape_xml(picture.title),
      picture.svg);
}

}  // namespace holdfast::lab
