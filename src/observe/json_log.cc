#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/unique_fd.h"
#include "holdfast/observer.h"
#include "observe/replace_file.h"

namespace holdfast {
namespace {

class JsonLog final : public Observer {
 public:
  explicit JsonLog(UniqueFd file) : file_{std::move(file)} {}

  void observe(const Event& event) noexcept override {
    const std::string line = to_json(event) + "\n";
    while (write(file_.get(), line.data(), line.size()) < 0 && errno == EINTR) {
    }
  }

 private:
  UniqueFd file_;
};

}  // namespace

Result<std::shared_ptr<Observer>> json_log(const std::string& path) {
  UniqueFd file{open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600)};
  if (!file) return Unexpected{observe::file_error(path, errno)};
  return std::shared_ptr<Observer>{std::make_shared<JsonLog>(std::move(file))};
}

}  // namespace holdfast
