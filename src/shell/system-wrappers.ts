import { named, type Wrapper } from './wrapper.ts'

const noOption = /^$/

/** Programs that change the user, the environment or the limits of a command. */
export function systemWrappers(): Readonly<Record<string, Wrapper>> {
  const env: Wrapper = {
    options:
      '-i,--ignore-environment -0,--null -u,--unset: -C,--chdir/ -S,--split-string! -a,--argv0: -P: -v,--debug --block-signal? --default-signal? --ignore-signal? --list-signal-handling',
    appends: true,
    takesUnknown: true,
    plain: noOption,
  }
  const timeout: Wrapper = {
    options: '-k,--kill-after: -s,--signal: -v,--verbose --preserve-status -f,--foreground -p',
    operands: 1,
    plain: /^-k$/,
    limited: true,
  }
  const nice: Wrapper = { options: '-n,--adjustment:', plain: /^(?:-n|-n?-?\d+|--adjustment(?:=-?\d+)?)$/ }
  const stdbuf: Wrapper = { options: '-i,--input: -o,--output: -e,--error:', plain: /^-[ioe][L\dKMG]*$/ }
  const su: Wrapper = {
    options:
      '-m,-p,--preserve-environment -w,--whitelist-environment: -g,--group: -G,--supp-group: -,-l,--login -c,--command! --session-command! -f,--fast -s,--shell@ -P,--pty -T,--no-pty',
    login: [],
  }
  const setarch: Wrapper = {
    options:
      '-B,--32bit -F,--fdpic-funcptrs -I,--short-inode -L,--addr-compat-layout -R,--addr-no-randomize -S,--whole-seconds -T,--sticky-timeouts -X,--read-implies-exec -Z,--mmap-page-zero -3,--3gb --4gb --uname-2.6 -v,--verbose --list',
    skipped: /^(?:linux|i\d86|x86|arm|aarch|uname)/,
  }
  const dotenv: Wrapper = {
    options:
      '-e: -f,--file: -v: -p: -c? -q,--quote: -o,--override --override --debug --no-expand --no-override',
    ownVerbs: ['get', 'set', 'unset', 'list'],
    subcommands: { run: { options: '--override --no-override' } },
  }
  const namespaces =
    '-m,--mount? -u,--uts? -i,--ipc? -n,--net? -p,--pid? -C,--cgroup? -U,--user? -T,--time? -S,--setuid: -G,--setgid:'
  return {
    ...named('builtin nohup catchsegv noglob nocorrect - eatmydata chronic pnpx winpty busybox toybox', {}),
    ...named('linux32 linux64 i386 x86_64 uname26', setarch),
    ...named('env genv', env),
    ...named('timeout gtimeout', timeout),
    ...named('nice gnice', nice),
    ...named('stdbuf gstdbuf', stdbuf),
    ...named('gosu su-exec setuidgid s6-setuidgid', { operands: 1 }),
    command: { options: '-p -v -V', describes: /^-[pvV]*[vV]/, plain: noOption },
    exec: { options: '-c -l -a:', plain: noOption },
    eval: { joined: ' ' },
    trap: { options: '-l -p -P', joined: 'first', exit: 'none' },
    sudo: {
      options:
        '-A,--askpass -a,--auth-type: -b,--background -B,--bell -c,--login-class: -C,--close-from: -D,--chdir/ -E --preserve-env? -e,--edit -g,--group: -H,--set-home -h,--host: --help -i,--login -K,--remove-timestamp -k,--reset-timestamp -l,--list -n,--non-interactive -N,--no-update -P,--preserve-groups -p,--prompt: -R,--chroot: -r,--role: -S,--stdin -s,--shell -t,--type: -T,--command-timeout: -U,--other-user: -u,--user: -V,--version -v,--validate',
    },
    doas: { options: '-a: -C: -L -n -s -u:' },
    su,
    runuser: { ...su, options: `${su.options} -u,--user:`, login: ['-u', '--user'] },
    sg: { options: '-c! -,-l', operands: 1, permutes: true, joined: ' ' },
    run0: {
      options:
        '--no-ask-password --machine: --unit: --property: --description: --slice: --slice-inherit -u,--user: -g,--group: --nice: -D,--chdir/ --setenv: --background: --pty --pipe --shell-prompt-prefix: -i,--via-shell --area: --lightweight: --empower',
    },
    pkexec: { options: '--user: --disable-internal-agent --keep-cwd' },
    setsid: { options: '-c,--ctty -f,--fork -w,--wait' },
    ionice: {
      options: '-c,--class: -n,--classdata: -p,--pid: -P,--pgid: -t,--ignore -u,--uid:',
      plain: /^-(?:[cn]\d?|t)$/,
    },
    chrt: {
      options:
        '-b,--batch -d,--deadline -f,--fifo -i,--idle -o,--other -r,--rr -R,--reset-on-fork -e,--ext -T,--sched-runtime: -P,--sched-period: -D,--sched-deadline: -a,--all-tasks -m,--max -p,--pid -v,--verbose',
      skipped: /^\d+$/,
    },
    taskset: { options: '-a,--all-tasks -p,--pid -c,--cpu-list', operands: 1 },
    numactl: {
      options:
        '-a,--all -A,--all -b,--balancing -i,--interleave: -w,--weighted-interleave: -p,--preferred: -P,--preferred-many: -m,--membind: -N,--cpunodebind: -C,--physcpubind: -l,--localalloc -s,--show -H,--hardware -L,--length: -o,--offset: -M,--shmmode: -t,--strict -I,--shmid: -S,--shm: -f,--file: -u,--huge -T,--touch -V,--verify -c,--cpubind:',
    },
    setpriv: {
      options:
        '-d,--dump --nnp,--no-new-privs --ambient-caps: --inh-caps: --bounding-set: --ruid: --euid: --rgid: --egid: --reuid: --regid: --clear-groups --keep-groups --init-groups --groups: --securebits: --pdeathsig: --ptracer: --selinux-label: --apparmor-profile: --reset-env --landlock-access: --landlock-rule: --seccomp-filter:',
    },
    prlimit: {
      options:
        '-p,--pid: -o,--output: --noheadings --raw --verbose -c,--core? -d,--data? -e,--nice? -f,--fsize? -i,--sigpending? -l,--memlock? -m,--rss? -n,--nofile? -q,--msgqueue? -r,--rtprio? -s,--stack? -t,--cpu? -u,--nproc? -v,--as? -x,--locks? -y,--rttime?',
    },
    choom: { options: '-n,--adjust: -p,--pid:' },
    runcon: {
      options: '-c,--compute -t,--type: -u,--user: -r,--role: -l,--range:',
      skipped: /^[\w-]+:[\w-]+:/,
    },
    chpst: { options: '-u: -U: -e: -C/ -n: -l: -L: -b: -m: -d: -o: -p: -f: -c: -t: -v -P -0 -1 -2' },
    capsh: { attachedOnly: true, argumentsOf: 'bash', afterDashes: true },
    unshare: {
      options: `${namespaces} -f,--fork --map-user: --map-group: -r,--map-root-user -c,--map-current-user --map-auto --map-users: --map-groups: --kill-child? --mount-proc? --mount-binfmt? --propagation: --setgroups: --keep-caps -R,--root: -w,--wd/ --monotonic: --boottime: --forward-signals -l,--load-interp:`,
    },
    nsenter: {
      options: `${namespaces} -a,--all -t,--target: --preserve-credentials --keep-caps -r,--root? -w,--wd? -W,--wdns: -e,--env -F,--no-fork -c,--join-cgroup -Z,--follow-context -N,--net-socket:`,
    },
    chroot: { options: '--groups: --userspec: --skip-chdir -u: -g: -G: -n', operands: 1 },
    cgexec: { options: '-g: --sticky -b' },
    setarch,
    bwrap: {
      options:
        '--args: --unshare-all --share-net --unshare-user --unshare-user-try --unshare-ipc --unshare-pid --unshare-net --unshare-uts --unshare-cgroup --unshare-cgroup-try --userns: --userns2: --disable-userns --assert-userns-disabled --pidns: --uid: --gid: --hostname: --chdir/ --clearenv --setenv:: --unsetenv: --lock-file: --sync-fd: --bind:: --bind-try:: --dev-bind:: --dev-bind-try:: --ro-bind:: --ro-bind-try:: --bind-fd:: --ro-bind-fd:: --remount-ro: --exec-label: --file-label: --proc: --dev: --tmpfs: --mqueue: --dir: --file:: --bind-data:: --ro-bind-data:: --symlink:: --seccomp: --add-seccomp-fd: --block-fd: --userns-block-fd: --info-fd: --json-status-fd: --new-session --die-with-parent --as-pid-1 --cap-add: --cap-drop: --perms: --size: --chmod:: --argv0: --overlay-src: --tmp-overlay: --ro-overlay:',
    },
    firejail: { attachedOnly: true },
    fakeroot: { options: '-l,--lib: -s: -i: -u,--unknown-is-real -b: --faked: -h -v' },
    faketime: { options: '-f -m -p: --date-prog: --exclude-monotonic', operands: 1 },
    ip: {
      options: '-n,-netns: -b,-batch: -a,-all',
      subcommands: { netns: { subcommands: { exec: { operands: 1 } } } },
    },
    ...named('proxychains proxychains4', { options: '-q -f:' }),
    torsocks: {
      options: '-i,--isolate -d,--debug -q,--quiet -P,--port: -a,--address: -u,--user: -p,--pass: --shell',
    },
    sshpass: { options: '-p: -f: -d: -e -P: -v' },
    'ssh-agent': { options: '-c -s -k -D -d -a: -E: -O: -P: -t: -T -U' },
    'dbus-run-session': { options: '--dbus-daemon: --config-file:' },
    'dbus-launch': {
      options:
        '--sh-syntax --csh-syntax --exit-with-session --exit-with-x11 --autolaunch: --auto-syntax --config-file: --close-stderr',
    },
    'systemd-inhibit': {
      options: '--no-pager --no-legend --what: --who: --why: --mode: --list --no-ask-password',
    },
    'systemd-run': {
      options:
        '--no-ask-password --user --system -H,--host: -M,--machine: -C,--capsule: --scope -u,--unit: -p,--property: --description: --slice: --slice-inherit --expand-environment: --no-block -r,--remain-after-exit --wait --send-sighup --service-type: --uid: --gid: --nice: --working-directory/ --root-directory: -R,--same-root-dir -d,--same-dir -E,--setenv: -t,--pty -T,--pty-late -P,--pipe -q,--quiet -G,--collect -S,--shell --job-mode: --ignore-failure --background: --no-pager --json: --path-property: --socket-property: --on-active: --on-boot: --on-startup: --on-unit-active: --on-unit-inactive: --on-calendar: --on-timezone-change --on-clock-change --timer-property: -v,--verbose',
      exit: 'none',
    },
    'start-stop-daemon': {
      options:
        '-S,--start -K,--stop -T,--status --pid: --ppid: -p,--pidfile: -x,--exec@ -n,--name: -u,--user: -g,--group: -c,--chuid: -s,--signal: -a,--startas@ -r,--chroot: -d,--chdir/ -N,--nicelevel: -P,--procsched: -I,--iosched: -k,--umask: -b,--background --notify-await --notify-timeout: -C,--no-close -O,--output: -m,--make-pidfile --remove-pidfile -R,--retry: -t,--test -o,--oknodo -q,--quiet -v,--verbose',
      exit: 'none',
    },
    dotenv,
    'dotenv-cli': dotenv,
    dotenvx: {
      options: '-l,--log-level: -q,--quiet -v,--verbose -d,--debug',
      subcommands: {
        run: {
          options:
            '-e,--env: -f,--env-file: -fv,--env-vault-file: -fk,--env-keys-file: -o,--overload --convention: --strict -q,--quiet -v,--verbose --ignore:',
        },
      },
    },
    'env-cmd': {
      options:
        '-e,--environments: -f,--file: -x,--expand-envs --fallback --no-override -r,--rc-file: --silent --use-shell& --verbose',
    },
    'cross-env': { launch: noOption },
    'cross-env-shell': { joined: ' ' },
    direnv: { subcommands: { exec: { operands: 1 } } },
    nix: {
      subcommands: {
        ...named('develop shell', {
          options:
            '-c,--command> -i,--ignore-environment,--ignore-env -k,--keep,--keep-env-var: -u,--unset,--unset-env-var: -s,--set-env-var:: --impure --offline --refresh --expr: -f,--file: --profile: --redirect:: --arg:: --argstr:: -I,--include: --option:: --extra-experimental-features: --override-input:: --update-input: --no-write-lock-file --recreate-lock-file -L,--print-build-logs -v,--verbose --quiet --stdin --phase: --build --check --configure --install --unpack',
          skipped: /./,
        }),
      },
      options:
        '--extra-experimental-features: --experimental-features: --option:: -L,--print-build-logs -v,--verbose --quiet --offline --refresh',
    },
    'nix-shell': {
      options:
        '--run! --command! -p,--packages -A,--attr: --arg:: --argstr:: --exclude: --pure --impure -i: -I: -E,--expr --keep: -j,--max-jobs: --cores: --option:: -v,--verbose -Q,--no-build-output',
      skipped: /./,
    },
  }
}
