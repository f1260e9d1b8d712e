#include "tests/postgres/server_user.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "base/assert.h"

namespace holdfast::postgres {
namespace {

bool is_root() { return geteuid() == 0; }

[[noreturn]] void become(std::vector<char*>& arguments, const std::filesystem::path& log) {
  const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  dup2(file, STDOUT_FILENO);
  dup2(file, STDERR_FILENO);
  execv(arguments.front(), arguments.data());
  _exit(127);
}

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

void run_as_server_user(const std::vector<std::string>& command, const std::filesystem::path& log) {
  std::vector<std::string> whole = as_server_user(command);
  std::vector<char*> arguments;
  for (std::string& argument : whole) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  const pid_t child = fork();
  HOLDFAST_ASSERT(child >= 0);
  if (child == 0) become(arguments, log);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  std::fprintf(stderr, "%s failed: see %s\n", command.front().c_str(), log.c_str());
  std::abort();
}

}  // namespace holdfast::postgres
