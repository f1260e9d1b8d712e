// Listeners: who wants to hear of changes of which lock, where an engine tells of all in one place.
//
// Thread safety: as Env. Lifetime: those who listen may outlive it.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::core {

class Listeners : public std::enable_shared_from_this<Listeners> {
 public:
  /// Listens for as long as it lives.
  class Place {
   public:
    Place(std::weak_ptr<Listeners> list, std::uint64_t number)
        : list_{std::move(list)}, number_{number} {}
    ~Place() {
      if (const auto list = list_.lock()) list->entries_.erase(number_);
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    std::weak_ptr<Listeners> list_;
    std::uint64_t number_;
  };

  std::unique_ptr<Place> add(std::string name, std::function<void()> on_change) {
    entries_.emplace(++last_, Entry{std::move(name), std::move(on_change)});
    return std::make_unique<Place>(weak_from_this(), last_);
  }

  bool empty() const { return entries_.empty(); }

  void tell(std::string_view name) {
    tell_if([&](const Entry& entry) { return entry.name == name; });
  }
  void tell_all() {
    tell_if([](const Entry&) { return true; });
  }

 private:
  struct Entry {
    std::string name;
    std::function<void()> on_change;
  };

  template <class Wanted>
  void tell_if(Wanted wanted) {
    // Who is told may come or go.
    const auto now = entries_;
    for (const auto& [number, entry] : now) {
      if (wanted(entry) && entries_.contains(number)) entry.on_change();
    }
  }

  std::map<std::uint64_t, Entry> entries_;
  std::uint64_t last_{0};
};

}  // namespace holdfast::core
