import { absolutePath } from './absolute-path.ts'
import { type Arg, argOf, type ShellState } from './interpreter.ts'
import { withVariable } from './state.ts'
import { hole, isKnown } from './unknown.ts'

/** What a command that runs others would run: words or a text in shell. */
export type Unwrapped =
  | { readonly kind: 'words'; readonly words: readonly Arg[]; readonly state: ShellState }
  | { readonly kind: 'script'; readonly source: string; readonly state: ShellState }

interface Wrapper {
  /** Options that take the next word as their value. */
  readonly valued?: readonly string[]
  /** Words before the command: the duration of `timeout`. */
  readonly operands?: number
  /** Only with one of these subcommands does it run another command. */
  readonly verbs?: readonly string[]
  /** The words are one text for a shell. */
  readonly joined?: boolean
  /** Options whose value is such a text. */
  readonly scripts?: readonly string[]
  /** The option that says where the command runs. */
  readonly directory?: readonly string[]
}

const plain =
  'nohup setsid builtin command unbuffer bunx pnpx caffeinate chronic busybox toybox fakeroot proxychains proxychains4 catchsegv noglob nocorrect - exec time gtime ltrace torsocks systemd-run linux32 linux64 i386 x86_64 uname26 eatmydata winpty'
const sudoValued = ['-u', '--user', '-g', '--group', '-h', '--host', '-p', '-C', '-R', '-T', '-r', '-t', '-U']

const bubblewrap = [
  ...['--proc', '--dev', '--tmpfs', '--dir', '--setenv', '--unsetenv', '--hostname', '--cap-add'],
  ...['--bind', '--ro-bind', '--dev-bind', '--symlink', '--bind-try', '--ro-bind-try'],
]

const wrappers: ReadonlyMap<string, Wrapper> = new Map<string, Wrapper>([
  ...plain
    .split(' ')
    .map((name): [string, Wrapper] => [name, { valued: ['-a', '-f', '-o', '--format', '--output'] }]),
  ['env', { valued: ['-u', '--unset'], directory: ['-C', '--chdir'], scripts: ['-S', '--split-string'] }],
  ['sudo', { valued: sudoValued, directory: ['-D', '--chdir'] }],
  ['doas', { valued: ['-u', '-C'] }],
  ['su', { scripts: ['-c', '--command'], operands: 1 }],
  ['runuser', { valued: ['-u'], scripts: ['-c', '--command'] }],
  ['timeout', { valued: ['-k', '--kill-after', '-s', '--signal'], operands: 1 }],
  ['gtimeout', { valued: ['-k', '--kill-after', '-s', '--signal'], operands: 1 }],
  ['nice', { valued: ['-n', '--adjustment'] }],
  ['ionice', { valued: ['-c', '-n', '-p'] }],
  ['chrt', { operands: 1 }],
  ['setpriv', { valued: ['--reuid', '--regid', '--groups', '--securebits', '--bounding-set'] }],
  ['prlimit', { valued: ['-p', '--pid', '-o', '--output'] }],
  ['choom', { valued: ['-n', '--adjust', '-p', '--pid'] }],
  ['runcon', { valued: ['-t', '-u', '-r', '-l'] }],
  ['logsave', { valued: ['-s'], operands: 1 }],
  ['faketime', { valued: ['-f'], operands: 1 }],
  ['pkexec', { valued: ['--user'] }],
  ['gosu', { operands: 1 }],
  ['su-exec', { operands: 1 }],
  ['bwrap', { valued: bubblewrap, directory: ['--chdir'] }],
  ['firejail', {}],
  ['xvfb-run', { valued: ['-n', '-s', '-e', '-f', '-p', '-w'] }],
  ['dbus-run-session', {}],
  ['rlwrap', {}],
  ['cgexec', { valued: ['-g'] }],
  ['setarch', {}],
  ['taskset', { operands: 1 }],
  ['stdbuf', { valued: ['-i', '-o', '-e'] }],
  ['strace', { valued: ['-o', '-e', '-p', '-s'] }],
  ['flock', { valued: ['-w', '-E'], operands: 1, scripts: ['-c', '--command'] }],
  ['watch', { valued: ['-n', '--interval'], joined: true }],
  ['script', { valued: ['-O', '-I', '-B', '-T', '-m', '-o'], scripts: ['-c', '--command'], operands: 1 }],
  ['unshare', { valued: [] }],
  ['chroot', { operands: 1 }],
  ['npx', { valued: ['-p', '--package'], scripts: ['-c', '--call'] }],
  ['uvx', { valued: ['--from', '--with', '-p', '--python'] }],
  ['npm', { verbs: ['exec', 'x'], valued: ['--package'], scripts: ['-c', '--call'] }],
  ['pnpm', { verbs: ['exec', 'dlx'] }],
  ['yarn', { verbs: ['exec', 'dlx'] }],
  [
    'uv',
    {
      verbs: ['run'],
      valued: ['--with', '--from', '-p', '--python', '--env-file'],
      directory: ['--directory'],
    },
  ],
  ['poetry', { verbs: ['run'] }],
  ['pipenv', { verbs: ['run'] }],
  ['bundle', { verbs: ['exec'] }],
  ['direnv', { verbs: ['exec'], operands: 1 }],
  ['dotenv', { valued: ['-e', '-f', '-v', '-p'], verbs: ['run', '--'] }],
  ['dotenvx', { valued: ['-f', '--env-file'], verbs: ['run'] }],
  ['entr', {}],
  ['hyperfine', { valued: ['-w', '-r', '-m', '-M', '-s', '-p', '-n'], joined: true }],
  [
    'tmux',
    {
      verbs: ['new', 'new-session', 'new-window', 'neww', 'split-window', 'run-shell', 'send-keys'],
      valued: ['-s', '-n', '-t', '-c'],
      joined: true,
    },
  ],
  ['screen', { valued: ['-S', '-t', '-X'] }],
  ['concurrently', { valued: ['-n', '-c'], joined: true }],
])

/** One layer off a command that runs another; null when it is none. */
export function unwrap(name: string, args: readonly Arg[], state: ShellState): readonly Unwrapped[] | null {
  const wrapper = wrappers.get(name)
  if (wrapper === undefined) return null
  const { valued = [], operands = 0, verbs, joined = false, scripts = [], directory = [] } = wrapper
  const found: Unwrapped[] = []
  let inside = state
  let index = 0
  let verb = verbs === undefined
  for (; index < args.length; index += 1) {
    const value = args[index]?.value ?? ''
    const next = args[index + 1]
    const [, option = '', attached] = /^(--[\w-]+)=(.*)$/s.exec(value) ?? []
    if (!verb && verbs?.includes(value)) verb = true
    else if (value === '--') {
      index += 1
      break
    } else if (scripts.includes(shortForm(value, scripts)) || (option !== '' && scripts.includes(option))) {
      found.push({ kind: 'script', source: attached ?? next?.value ?? '', state: inside })
      if (attached === undefined) index += 1
    } else if (directory.includes(value) || (option !== '' && directory.includes(option))) {
      inside = { ...inside, cwd: knownOrNull(absolutePath(attached ?? next?.value ?? '', inside.cwd)) }
      if (attached === undefined) index += 1
    } else if (attachedScript(value, scripts) !== null) {
      found.push({ kind: 'script', source: attachedScript(value, scripts) ?? '', state: inside })
    } else if (value.startsWith('-') && value.length > 1) {
      if (takesNext(value, valued)) index += bound.test(value) ? 2 : 1
    } else if (name === 'setarch' && /^(?:linux|i\d86|x86|arm|aarch|uname)/.test(value)) {
    } else if (/^\w+=/.test(value)) inside = assigned(inside, value)
    // `env $(cat settings) program`: more assignments.
    else if (name === 'env' && value === hole && next !== undefined) continue
    else break
  }
  if (!verb) return found.length > 0 ? found : null
  const words = args.slice(index + operands)
  const [first, text] = words
  if (first === undefined) return found
  if (scripts.includes(first.value) && text !== undefined)
    return [...found, { kind: 'script', source: text.value, state: inside }]
  return joined
    ? [
        ...found,
        { kind: 'script', source: words.map(({ value }) => value).join(joinerOf(name)), state: inside },
      ]
    : [...found, { kind: 'words', words, state: inside }]
}

/** `exec -la name`: the last letter takes the value. */
function takesNext(value: string, valued: readonly string[]): boolean {
  return valued.includes(value) || (/^-[a-z]{2,}$/.test(value) && valued.includes(`-${value.slice(-1)}`))
}

/** These take two words. */
const bound = /^--(?:ro-|dev-)?(?:bind|symlink)(?:-try)?$|^--setenv$/

/** `env -S'rm -f x'`. */
function attachedScript(value: string, scripts: readonly string[]): string | null {
  const letter = value.slice(0, 2)
  return scripts.includes(letter) && /^-\w./.test(value) && !value.startsWith('--') ? value.slice(2) : null
}

/** `-qc` ends in `-c`. */
function shortForm(value: string, scripts: readonly string[]): string {
  const last = `-${value.slice(-1)}`
  return /^-[a-zA-Z]{2,}$/.test(value) && scripts.includes(last) ? last : value
}

function joinerOf(name: string): string {
  return name === 'hyperfine' || name === 'concurrently' ? '\n' : ' '
}

function assigned(state: ShellState, text: string): ShellState {
  const at = text.indexOf('=')
  return withVariable(state, text.slice(0, at), text.slice(at + 1))
}

function knownOrNull(path: string): string | null {
  return isKnown(path) ? path : null
}

/** `ssh localhost …` comes back to this machine; another one is out of sight. */
export function unwrapSsh(args: readonly Arg[]): string | null {
  const valued = '-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w'.split(' ')
  let index = 0
  while (index < args.length && (args[index]?.value ?? '').startsWith('-'))
    index += valued.includes(args[index]?.value ?? '') ? 2 : 1
  const host = (args[index] ?? argOf('')).value.replace(/^.*@/, '')
  const local = /^(?:localhost|127\.\d+\.\d+\.\d+|::1|\[::1\]|0\.0\.0\.0|\0)$/.test(host)
  return local
    ? args
        .slice(index + 1)
        .map(({ value }) => value)
        .join(' ')
    : null
}
