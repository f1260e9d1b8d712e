#include "tests/postgres/server_user.h"

#include <pwd.h>
#include <unistd.h>

#include "base/assert.h"

namespace holdfast::postgres {
namespace {

bool is_root() { return geteuid() == 0; }

}  // namespace

std::vector<std::string> as_server_user(std::vector<std::string> command) {
  if (!is_root()) return command;
  // A change of user takes the signal away that ends the server with us.
  std::vector<std::string> whole{"/usr/bin/setpriv",
                                 "--reuid=postgres",
                                 "--regid=postgres",
                                 "--init-groups",
                                 "--pdeathsig=KILL"};
  whole.insert(whole.end(), command.begin(), command.end());
  return whole;
}

void give_to_server_user(const std::filesystem::path& path) {
  using std::filesystem::perms;
  const bool is_directory = std::filesystem::is_directory(path);
  std::filesystem::permissions(
      path, is_directory ? perms::owner_all : perms::owner_read | perms::owner_write);
  if (!is_root()) return;
  const passwd* const user = getpwnam("postgres");
  HOLDFAST_ASSERT(user != nullptr);
  HOLDFAST_ASSERT(chown(path.c_str(), user->pw_uid, user->pw_gid) == 0);
}

}  // namespace holdfast::postgres
