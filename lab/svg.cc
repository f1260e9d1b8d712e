#include "lab/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace holdfast::lab {
namespace {

// Stripes over what is not moving.
constexpr std::string_view kPatterns =
    "<defs><pattern id=\"stripes\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(45)\"><rect class=\"stripe\" width=\"3\" height=\"7\"/></pattern>"
    "</defs>\n";

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t'; }

}  // namespace

std::string escape_xml(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += is_control(c) ? '?' : c;
    }
  }
  return escaped;
}

double text_width(std::string_view text, double font_size) {
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  const auto letters = static_cast<double>(text.size()) -
                       static_cast<double>(std::ranges::count_if(text, continues));
  return 0.54 * font_size * letters;
}

void Svg::rect(const Box& box, std::string_view classes, double radius) {
  fmt::format_to(std::back_inserter(body_),
                 "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
                 "rx=\"{:.1f}\"/>\n",
                 classes,
                 box.x,
                 box.y,
                 std::max(0.0, box.width),
                 std::max(0.0, box.height),
                 radius);
}

void Svg::line(Point from, Point to, std::string_view classes) {
  fmt::format_to(std::back_inserter(body_),
                 "<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
                 classes,
                 from.x,
                 from.y,
                 to.x,
                 to.y);
}

void Svg::polygon(const std::vector<Point>& points, std::string_view classes) {
  body_ += fmt::format("<polygon class=\"{}\" points=\"", classes);
  for (const Point& point : points) body_ += fmt::format("{:.1f},{:.1f} ", point.x, point.y);
  body_ += "\"/>\n";
}

void Svg::circle(Point centre, double radius, std::string_view classes) {
  fmt::format_to(std::back_inserter(body_),
                 "<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"/>\n",
                 classes,
                 centre.x,
                 centre.y,
                 radius);
}

void Svg::text(Point at, std::string_view text, std::string_view classes) {
  fmt::format_to(std::back_inserter(body_),
                 "<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                 classes,
                 at.x,
                 at.y,
                 escape_xml(text));
}

void Svg::arrow(Point from, Point to, std::string_view classes) {
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  if (length <= 0) return;
  const Point unit{(to.x - from.x) / length, (to.y - from.y) / length};
  constexpr double kHead = 8;
  const Point neck{to.x - unit.x * kHead, to.y - unit.y * kHead};
  line(from, neck, fmt::format("{} shaft", classes));
  polygon({to,
           {neck.x - unit.y * kHead / 2, neck.y + unit.x * kHead / 2},
           {neck.x + unit.y * kHead / 2, neck.y - unit.x * kHead / 2}},
          fmt::format("{} head", classes));
}

void Svg::begin_group(std::string_view title) {
  body_ += fmt::format("<g><title>{}</title>\n", escape_xml(title));
}

void Svg::end_group() { body_ += "</g>\n"; }

std::string Svg::finish(std::string_view title) const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" role=\"img\" aria-label=\"{2}\">\n<style>{3}</style>\n{4}"
      "<rect class=\"page\" width=\"{0:.0f}\" height=\"{1:.0f}\"/>\n{5}</svg>\n",
      width_,
      height_,
      escape_xml(title),
      svg_style(),
      kPatterns,
      body_);
}

}  // namespace holdfast::lab
