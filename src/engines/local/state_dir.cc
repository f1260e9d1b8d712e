#include "engines/local/state_dir.h"

#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace holdfast::local {
namespace {

Errc code_of(int code) {
  switch (code) {
    case EACCES:
    case EPERM:
    case EROFS:
      return Errc::denied;
    case ENOSPC:
    case EDQUOT:
      return Errc::no_space;
    default:
      return Errc::io_error;
  }
}

std::string remedy_of(int code, const std::string& path) {
  switch (code) {
    case EACCES:
    case EPERM:
      return "give this user read and write permission on " + path +
             ", or choose another directory with local:/directory";
    case EROFS:
      return "choose a writable directory with local:/directory";
    case ENOSPC:
    case EDQUOT:
      return "free some space; locks already held are not affected";
    case ENOTDIR:
    case ELOOP:
      return "choose another directory with local:/directory";
    default:
      return "check the file system that holds " + path;
  }
}

Result<void> make_directory(const std::string& directory) {
  if (mkdir(directory.c_str(), 0700) == 0 || errno == EEXIST) return {};
  if (errno != ENOENT) return Unexpected{os_error("cannot create", directory, errno)};
  const auto slash = directory.find_last_of('/');
  if (slash == 0 || slash == std::string::npos) {
    return Unexpected{os_error("cannot create", directory, ENOENT)};
  }
  if (auto parent = make_directory(directory.substr(0, slash)); !parent) return parent;
  if (mkdir(directory.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return Unexpected{os_error("cannot create", directory, errno)};
}

}  // namespace

Error os_error(const std::string& action, const std::string& path, int code) {
  return {code_of(code), action + " " + path + ": " + std::strerror(code), remedy_of(code, path)};
}

bool is_network_file_system(long type) {
  constexpr std::array<unsigned, 13> kNetwork{
      0x6969,      // NFS
      0x517b,      // SMB
      0xff534d42,  // CIFS
      0xfe534d42,  // SMB2
      0x65735546,  // FUSE, such as sshfs
      0x01021997,  // 9P
      0x00c36400,  // Ceph
      0x01161970,  // GFS2
      0x7461636f,  // OCFS2
      0x0bd00bd0,  // Lustre
      0x5346414f,  // AFS
      0x564c,      // NCP
      0x73757245,  // Coda
  };
  return std::ranges::find(kNetwork, static_cast<unsigned>(type)) != kNetwork.end();
}

Result<std::string> default_directory() {
  if (geteuid() == 0) return std::string{"/var/lib/holdfast"};
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && state[0] == '/') return std::string{state} + "/holdfast";
  const char* home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/') return std::string{home} + "/.local/state/holdfast";
  return Unexpected{Error{Errc::invalid_argument,
                          "neither XDG_STATE_HOME nor HOME names a directory for local:",
                          "name one with local:/directory"}};
}

Result<void> prepare_directory(const std::string& directory) {
  if (auto made = make_directory(directory); !made) return made;
  struct stat status {};
  if (stat(directory.c_str(), &status) != 0) {
    return Unexpected{os_error("cannot look at", directory, errno)};
  }
  if (!S_ISDIR(status.st_mode)) return Unexpected{os_error("cannot use", directory, ENOTDIR)};
  struct statfs system {};
  if (statfs(directory.c_str(), &system) != 0) {
    return Unexpected{os_error("cannot look at", directory, errno)};
  }
  if (is_network_file_system(system.f_type)) {
    return Unexpected{Error{Errc::unsupported,
                            directory + " is on a network file system, which local: cannot use",
                            "choose a directory on a disk of this machine with local:/directory, "
                            "or an engine made for several machines"}};
  }
  return {};
}

}  // namespace holdfast::local
