# Completion of holdfast for bash.

_holdfast_locks() {
  local url=$1
  holdfast ${url:+--engine "$url"} ls 2>/dev/null | awk 'NR > 1 { print $1 }'
}

# What `lab sim --list` shows under that heading.
_holdfast_simulated() {
  holdfast lab sim --list 2>/dev/null |
    awk -v list="$1" '/^[A-Z]/ { here = tolower($1) == list } /^  [a-z]/ && here { print $1 }'
}

_holdfast() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local commands="run elect leader acquire renew release upgrade downgrade ls show watch top advise break check-sequencer
    open get put erase check update once limit store redlock install uninstall bench doctor lab completion"
  local general="--engine --json --help"
  local fence="--token --owner --lock --shared --file"
  local lock="--ttl --wait --shared --permits --writer --lock-delay --label"
  local sim="--mutant --seeds --first-seed --seed --for --faults --nodes --clients --events --stop-after
    --jobs --html --svg --timeline --all --list"
  local command="" demonstration="" url="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      --)
        if [[ $command == run || $command == elect || $command == update || $command == once ||
          $command == limit ]]; then
          local offset=$((i + 1))
          if declare -F _command_offset >/dev/null; then
            _command_offset "$offset"
          else
            mapfile -t COMPREPLY < <(compgen -c -- "$current")
          fi
          return
        fi
        ;;
      --engine) ((++i)) && url=${COMP_WORDS[i]} ;;
      -*) ;;
      *)
        [[ $command == lab && -z $demonstration ]] && demonstration=${COMP_WORDS[i]}
        [[ -z $command ]] && command=${COMP_WORDS[i]}
        ;;
    esac
  done

  local words=""
  case $previous in
    --ttl | --longest-ttl) words="10s 30s 5m 1h" ;;
    --wait) words="0 10s 1m forever" ;;
    --grace) words="1s 5s 30s" ;;
    --every) words="200ms 1s 5s" ;;
    --engine)
      words="local:"
      [[ $demonstration == sim ]] && words=$(_holdfast_simulated engines)
      ;;
    --mutant) words=$(_holdfast_simulated mutants) ;;
    --faults) words="all none $(_holdfast_simulated faults)" ;;
    --for) words="10s 60s 5m" ;;
    --rate) words="1/s 10/s 100/m 1000/h" ;;
    --keep) words="1h 24h 7d" ;;
    --on-failure)
      words="store retry"
      [[ $command == run ]] && words="wait retry"
      ;;
    --at-most-every) words="1m 10m 1h 24h" ;;
    --lock | --and) words=$(_holdfast_locks "$url") ;;
    --lock-engine) words="local:" ;;
    --file | --html | --svg | --metrics | --log)
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      return
      ;;
    --permits | --lock-delay | --label | --status-fd | --owner | --intent | --why | --token | --seq) return ;;
    --value | --id) return ;;
    --if-version | --attempts | --seeds | --first-seed | --seed | --nodes | --clients) return ;;
    --availability) words="99,99.9,99.99" ;;
    --events | --stop-after | --jobs | --processes | --rounds | --burst | --cost) return ;;
    *)
      case $command in
        "") words="$commands $general --version" ;;
        run)
          words="$lock --and --at-most-every --on-failure --grace --status-fd --metrics --log --measure
            $general -- $(_holdfast_locks "$url")"
          ;;
        elect) words="--value --id --ttl --wait --grace --once $general -- $(_holdfast_locks "$url")" ;;
        leader) words="--watch --hand-over-to --wait $general $(_holdfast_locks "$url")" ;;
        acquire) words="$lock $general $(_holdfast_locks "$url")" ;;
        renew) words="--owner --ttl $general $(_holdfast_locks "$url")" ;;
        release) words="--owner $general $(_holdfast_locks "$url")" ;;
        upgrade) words="--owner --ttl --wait --label $general $(_holdfast_locks "$url")" ;;
        downgrade) words="--owner --intent --ttl --wait --label $general $(_holdfast_locks "$url")" ;;
        ls | show | watch | advise) words="$general $(_holdfast_locks "$url")" ;;
        top) words="--every --once $general $(_holdfast_locks "$url")" ;;
        break) words="--why $general $(_holdfast_locks "$url")" ;;
        open) words="$fence --seq --strict $general" ;;
        check) words="$fence $general" ;;
        get) words="$fence --seq --unfenced $general" ;;
        put | erase) words="$fence --seq --unfenced --if-version $general" ;;
        update) words="--attempts $general --" ;;
        once) words="--keep --ttl --wait --on-failure $general --" ;;
        limit) words="--rate --burst --cost --wait $general --" ;;
        redlock) words="init rejoin --longest-ttl --anew $general" ;;
        install) words="postgres --role --operator --schema --dry-run $general" ;;
        uninstall) words="postgres --yes --force --dry-run $general" ;;
        store) words="rebase --lock --lock-engine --why $general" ;;
        bench)
          words="local redis etcd zookeeper postgres compare redlock postgres-advisory --peers --html --svg
            $general"
          ;;
        doctor) words="--ttl $general" ;;
        lab)
          words="pause naive bank sim quorum --html --svg --no-picture --keep --ttl --processes --rounds
            $general"
          [[ $demonstration == sim ]] && words="$sim $general"
          [[ $demonstration == quorum ]] && words="--nodes --availability --html --svg --no-picture $general"
          ;;
        completion) words="bash zsh $general" ;;
        *) words=$general ;;
      esac
      ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

complete -F _holdfast holdfast
