import { named, type Wrapper } from './wrapper.ts'

/** Programs that watch, measure, limit or detach a command. */
export function processWrappers(): Readonly<Record<string, Wrapper>> {
  const perf =
    '-a,--all-cpus -A,--no-aggr -B,--big-num -C,--cpu: -D,--delay: -d,--detailed -e,--event: -G,--cgroup: -g,--group -I,--interval-print: -i,--no-inherit -j,--json-output -M,--metrics: -n,--null -o,--output: -p,--pid: -r,--repeat: -S,--sync -t,--tid: -T,--transaction -v,--verbose -x,--field-separator: --all-kernel --all-user --append --control: --cputype: --filter: --for-each-cgroup: --interval-clear --interval-count: --iostat? --log-fd: --metric-no-group --metric-no-merge --metric-only --no-merge --per-core --per-die --per-node --per-socket --per-thread --post! --pre! --quiet --scale --smi-cost --summary --table --td-level: --timeout: --topdown'
  const pane = '-a -b -d -f -h -I -k -P -S -v -Z -c/ -e: -F: -l: -n: -t: -p:'
  const screen: Wrapper = {
    options:
      '-a -A -c: -d -D -e: -f -fn -fa -h: -i -l -ls -list -L -Logfile: -m -n -O -p: -q -Q -r -R -RR -s: -S: -t: -T: -U -wipe -x -X',
    subcommands: { stuff: { joined: ' ' } },
    ownVerbs: ['quit', 'kill'],
    exit: 'none',
  }
  return {
    time: { options: '-a,--append -f,--format: -o,--output: -p,--portability -q,--quiet -v,--verbose -l -h' },
    gtime: { options: '-a,--append -f,--format: -o,--output: -p,--portability -q,--quiet -v,--verbose' },
    strace: {
      options:
        '-e: -E,--env: -p,--attach: -u,--user: --argv0: -b,--detach-on: -D,--daemonize? -f,--follow-forks --output-separately -I,--interruptible: --kill-on-exit --trace: --trace-fds: --signal: --status: -P,--trace-path: -z,--successful-only -Z,--failed-only -a,--columns: --abbrev: --verbose: --raw: --read: --write: -q --quiet? --silent? --silence? --kvm: --decode-fds? -i,--instruction-pointer -k,--stack-trace,--stack-traces? -n,--syscall-number -N,--arg-names -o,--output: -A,--output-append-mode -r,--relative-timestamps? -s,--string-limit: --absolute-timestamps? -t -T,--syscall-times? -v,--no-abbrev --strings-in-hex? -x -X,--const-print-style: -y -Y --decode-pids: -c,--summary-only -C,--summary -O,--summary-syscall-overhead: -S,--summary-sort-by: -U,--summary-columns: -w,--summary-wall-clock --inject: --fault: -d,--debug --seccomp-bpf --secontext? --tips?',
    },
    ltrace: {
      options:
        '-a,--align: -A: -b,--no-signals -c -C,--demangle -D,--debug: -e: -f -F,--config: -i -l,--library: -L -n,--indent: -o,--output: -p: -r -s: -S -t -T -u: -w,--where: -x:',
    },
    valgrind: { options: '-q,--quiet -v,--verbose -s -d', attachedOnly: true },
    perf: {
      options: '--no-pager -p,--paginate --debug: --buildid-dir: --exec-path?',
      subcommands: named('stat record trace', { options: perf }),
    },
    heaptrack: { options: '-o,--output: -q,--quiet -p,--pid: -d,--debug -r,--raw --use-inject' },
    'py-spy': {
      subcommands: named('record top', {
        options:
          '-p,--pid: -o,--output: -f,--format: -d,--duration: -r,--rate: -s,--subprocesses -F,--function -n,--native -t,--threads -g,--gil -i,--idle --nonblocking --full-filenames',
      }),
    },
    caffeinate: { options: '-d -i -m -s -u -t: -w:' },
    unbuffer: { options: '-p' },
    rlwrap: {
      options:
        '-a? -A? -b: -c -C: -D: -e: -f: -g: -H: -i -I -l: -m? -M: -n -N -o -O: -p? -P: -q: -r -R -s: -S: -t: -U -v -w: -W? -X -z:',
    },
    'xvfb-run': {
      options:
        '-a,--auto-servernum,--auto-display -e,--error-file: -f,--auth-file: -l,--listen-tcp -n,--server-num: -p,--xauth-protocol: -s,--server-args: -w,--wait:',
      launch: /^(?:-a|--auto-servernum)$/,
    },
    tini: { options: '-s -p: -v -w -g -e: -l -h --version' },
    'dumb-init': { options: '-c,--single-child -r,--rewrite: -v,--verbose' },
    catatonit: { options: '-g -P -L' },
    logsave: { options: '-a -s -v', operands: 1 },
    flock: {
      options:
        '-s,--shared -e,-x,--exclusive -u,--unlock -n,--nb,--nonblock -w,--wait,--timeout: -E,--conflict-exit-code: -o,--close -c,--command! -F,--no-fork --fcntl --verbose',
      operands: 1,
      permutes: true,
    },
    watch: {
      options:
        '-b,--beep -c,--color -C,--no-color -d,--differences? -e,--errexit -f,--follow -g,--chgexit -q,--equexit: -n,--interval: -p,--precise -r,--no-rerun -s,--shotsdir: -t,--no-title -w,--no-wrap -x,--exec',
      joined: ' ',
      exit: 'none',
    },
    script: {
      options:
        '-I,--log-in: -O,--log-out: -B,--log-io: -T,--log-timing: -t,--timing? -m,--logging-format: -a,--append -c,--command! -e,--return -f,--flush --force -E,--echo: -o,--output-limit: -q,--quiet -k -r -d -p -F:',
      operands: 1,
      permutes: true,
      exit: 'none',
    },
    xargs: {
      options:
        '-0,--null -a,--arg-file: -d,--delimiter: -E: -e,--eof? -I: -i,--replace? -J: -R: -L,--max-lines: -l? -n,--max-args: -o,--open-tty -P,--max-procs: -p,--interactive --process-slot-var: -r,--no-run-if-empty -s,--max-chars: -S: --show-limits -t,--verbose -x,--exit',
      exit: 'similar',
    },
    parallel: {
      options:
        '-0,--null -a,--arg-file: -d,--delimiter: -j,--jobs: -P,--max-procs: -k,--keep-order -q,--quote -r,--no-run-if-empty -t,--verbose -v -u,--ungroup -X -x -m -I: -i? -L,--max-lines: -l? -N: -n,--max-args: -s,--max-chars: -S,--sshlogin: -C,--colsep: -E: -e? --bar --eta --progress --dry-run --dryrun --group --line-buffer --lb --joblog: --results: --tmpdir: --timeout: --delay: --retries: --halt: --load: --memfree: --nice: --tag --tagstring: --wd,--workdir: --will-cite --no-notice --resume --resume-failed --shuf --pipe --block: --plain --env: --colour --color --arg-sep: --header: --trim: --rpl: --link --xapply --linebuffer --silent --semaphore --id: --fg --bg --wait --tmux --no-run-if-empty --basefile: --transferfile: --return: --cleanup --trc:',
      joined: ' ',
      ends: /^:::+\+?$/,
      exit: 'similar',
    },
    sem: { options: '-j,--jobs: --id: --fg --bg --wait --timeout: -P:', joined: ' ', exit: 'none' },
    entr: { options: '-a -c -d -n -p -r -s& -x -z', exit: 'none' },
    watchexec: {
      options:
        '-w,--watch: -W,--watch-non-recursive: -F,--watch-file: -c,--clear? -o,--on-busy-update: -r,--restart -s,--signal: --stop-signal: --stop-timeout: --map-signal: -d,--debounce: --stdin-quit --no-vcs-ignore --no-project-ignore --no-global-ignore --no-default-ignore --no-discover-ignore --ignore-nothing -p,--postpone --delay-run: --poll? --shell: -n --emit-events-to: --only-emit-events -E,--env: --wrap-process: -N,--notify --color: --timings -q,--quiet --bell --project-origin: --workdir/ -e,--exts: -f,--filter: --filter-file: -j,--filter-prog: -i,--ignore: --ignore-file: --fs-events: --no-meta --print-events -v,--verbose',
      joined: ' ',
      exit: 'none',
    },
    nodemon: {
      options:
        '-x,--exec! -w,--watch: -e,--ext: -i,--ignore: -V,--verbose -C,--on-change-only -L,--legacy-watch -I,--no-stdin -q,--quiet -d,--delay: -s,--signal: --config: --cwd/ --polling-interval: --spawn --dump',
      appends: true,
      exit: 'none',
    },
    hyperfine: {
      options:
        '-w,--warmup: -m,--min-runs: -M,--max-runs: -r,--runs: -s,--setup! --reference: -p,--prepare! -C,--conclude! -c,--cleanup! -P,--parameter-scan:: -D,--parameter-step-size: -L,--parameter-list:: -S,--shell: -N -i,--ignore-failure --style: --sort: -u,--time-unit: --export-asciidoc: --export-csv: --export-json: --export-markdown: --export-orgmode: --show-output --output: --input: -n,--command-name:',
      joined: '\n',
      exit: 'similar',
    },
    tmux: {
      options: '-2 -C -D -l -N -u -v -V -c! -f: -L: -S: -T:',
      separator: ';',
      subcommands: {
        ...named('new new-session', {
          options: '-A -d -D -E -P -X -c/ -e: -f: -F: -n: -s: -t: -x: -y:',
          joined: ' ',
        }),
        ...named('neww new-window splitw split-window respawnp respawn-pane respawnw respawn-window', {
          options: pane,
          joined: ' ',
        }),
        ...named('run run-shell', { options: '-b -C -c/ -d: -t:', joined: ' ' }),
        ...named('if if-shell', { options: '-b -F -t:', joined: '\n' }),
        ...named('pipep pipe-pane', { options: '-I -O -o -t:', joined: ' ' }),
        ...named('popup display-popup', {
          options: '-B -C -E -b: -c: -d/ -e: -h: -s: -S: -t: -T: -w: -x: -y:',
          joined: ' ',
        }),
        ...named('send send-keys', { options: '-F -H -K -l -M -R -X -c: -N: -t:', joined: ' ' }),
      },
      exit: 'none',
    },
    screen,
    nq: { options: '-c -q -t -w -a', exit: 'none' },
    ...named('tsp ts', { options: '-n -g -f -m -d -D: -L: -N: -E -B', exit: 'none' }),
    daemonize: { options: '-a -c/ -e: -E: -l: -o: -p: -u: -v', exit: 'none' },
    setlock: { options: '-n -N -x -X', operands: 1 },
  }
}
