// Writes a picture as SVG: shapes and text with classes, whose colours are in svg_style().

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::lab {

struct Point {
  double x{0};
  double y{0};
};

struct Box {
  double x{0};
  double y{0};
  double width{0};
  double height{0};

  double right() const { return x + width; }
  double bottom() const { return y + height; }
};

/// The text as it may stand in XML, in content and in attributes. Bytes XML cannot hold become '?'.
std::string escape_xml(std::string_view text);

/// The width of a text on the page, roughly.
double text_width(std::string_view text, double font_size);

class Svg {
 public:
  Svg(double width, double height) : width_{width}, height_{height} {}

  void rect(const Box& box, std::string_view classes, double radius = 0);
  void line(Point from, Point to, std::string_view classes);
  void polygon(const std::vector<Point>& points, std::string_view classes);
  void circle(Point centre, double radius, std::string_view classes);
  /// `classes` say size, weight, colour and anchor.
  void text(Point at, std::string_view text, std::string_view classes);
  /// A line whose end has a head.
  void arrow(Point from, Point to, std::string_view classes);
  /// What the mouse shows over the shapes until end_group().
  void begin_group(std::string_view title);
  void end_group();

  /// The document: styles, patterns and everything drawn. `title` is for those who cannot see it.
  std::string finish(std::string_view title) const;

 private:
  double width_;
  double height_;
  std::string body_;
};

/// The colours of every class, for light and for dark surroundings.
std::string_view svg_style();

}  // namespace holdfast::lab
