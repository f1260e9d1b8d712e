# shellcheck shell=bash disable=SC2154
# Sourced by ./holdfast and ./test: configure and build one preset, with progress on stderr.
# Expects $root, the checkout.

# Takes the build folder's lock on file descriptor 9, so that two first calls do not build at once.
lock_build() {
  local build=$1
  mkdir -p "$build"
  exec 9>"$build/.lock"
  if ! flock -n 9; then
    echo "holdfast: another build is running, waiting for it" >&2
    flock 9
  fi
}

# The lock would outlive us in a daemon that a build starts, or in the command we become.
unlock_build() { exec 9>&-; }

# Configures. A build folder made for another place (a copied checkout) is begun afresh.
configure_preset() {
  local preset=$1 build=$root/build/$1 fresh=()
  local log=$build/configure.log
  if [[ -f $build/CMakeCache.txt ]] &&
    ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$build/CMakeCache.txt"; then
    fresh=(--fresh)
  fi
  if ! (cd "$root" && cmake --preset "$preset" "${fresh[@]}") >"$log" 2>&1 9>&-; then
    tail -n 40 "$log" >&2
    echo "holdfast: the configuration failed; all of it is in $log" >&2
    return 70
  fi
}

# ccache fails the build when it has no place for its cache; without it the build is only slower.
if [[ -z ${CCACHE_DIR-} && ! -w ${HOME:-/} ]]; then export CCACHE_DISABLE=1; fi

# ccache passes precompiled headers by unless it is told that nobody defines them differently.
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros}

# Builds targets of a preset (all when none is named).
build_preset() {
  local preset=$1 log=$root/build/$1/build.log
  shift
  echo "holdfast: building ($preset)" >&2
  if ! NINJA_STATUS='[%f/%t] ' ninja -C "$root/build/$preset" "$@" 2>&1 9>&- |
    show_progress "$log"; then
    tail -n 40 "$log" >&2
    echo "holdfast: the build failed; all of it is in $log" >&2
    return 70
  fi
}

# One line that counts up on a terminal, a line for every tenth elsewhere; everything to the log.
show_progress() {
  local log=$1 line tenth last=-1
  : >"$log"
  while IFS= read -r line; do
    printf '%s\n' "$line" >>"$log"
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\ (.*) ]]; then
      if [[ -t 2 ]]; then
        printf '\r\033[K%.78s' "$line" >&2
      else
        tenth=$((10 * BASH_REMATCH[1] / BASH_REMATCH[2]))
        if ((tenth > last)); then printf '%s\n' "$line" >&2; fi
        last=$tenth
      fi
    elif [[ $line == *warning:* ]]; then
      printf '%s\n' "$line" >&2
    fi
  done
  if [[ -t 2 ]]; then printf '\r\033[K' >&2; fi
}
