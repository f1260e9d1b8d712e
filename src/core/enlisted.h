// Enlisted: stands in a list for as long as it lives.

#pragma once

#include <list>
#include <memory>
#include <utility>

namespace holdfast::core {

template <class T>
using WeakList = std::list<std::weak_ptr<T>>;

/// `keeper` keeps the list alive.
template <class T>
class Enlisted {
 public:
  Enlisted(std::shared_ptr<void> keeper, WeakList<T>& list, const std::shared_ptr<T>& who)
      : keeper_{std::move(keeper)}, list_{list}, place_{list.insert(list.end(), who)} {}
  ~Enlisted() { list_.erase(place_); }
  Enlisted(const Enlisted&) = delete;
  Enlisted& operator=(const Enlisted&) = delete;

 private:
  std::shared_ptr<void> keeper_;
  WeakList<T>& list_;
  typename WeakList<T>::iterator place_;
};

}  // namespace holdfast::core
