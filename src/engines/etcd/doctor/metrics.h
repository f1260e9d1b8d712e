// What an etcd server says of itself at `/metrics`.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::etcd {

class Metrics {
 public:
  /// From the text of the page. What is not understood is left out.
  static Metrics read(std::string_view text);

  bool empty() const { return values_.empty(); }
  /// Of a metric without labels. Empty: there is none.
  std::optional<double> value(std::string_view name) const;
  /// Below which `part` of what a histogram has seen lies, as a bound of its buckets. Empty: it has
  /// seen nothing, or there is none.
  std::optional<double> quantile(std::string_view histogram, double part) const;

 private:
  std::map<std::string, double, std::less<>> values_;
  /// By histogram, then by upper bound: how many were no higher.
  std::map<std::string, std::map<double, double>, std::less<>> buckets_;
};

}  // namespace holdfast::etcd
