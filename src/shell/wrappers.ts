import type { Arg } from './interpreter.ts'
import { hole } from './unknown.ts'

/** What a command that runs another one runs: a command in words, or a text for a shell. */
export type Unwrapped = UnwrappedWords | UnwrappedScript

interface UnwrappedWords extends WrapperEffect {
  readonly kind: 'words'
  readonly words: readonly Arg[]
}

interface UnwrappedScript extends WrapperEffect {
  readonly kind: 'script'
  readonly source: string
}

/** What a wrapper does besides running a command. */
export interface WrapperEffect {
  /** `NAME=value` words that it sets for the command. */
  readonly assignments: readonly string[]
  /** The directory it changes to first; null when it stays. */
  readonly directory: string | null
  readonly exit: ExitRelation
  /** It runs the command unchanged and ends as the command ends, apart from `assignments` and `limited`. */
  readonly plain: boolean
  /** It may stop the command after a time, with exit code 124. */
  readonly limited: boolean
}

/** `same`: it ends as the command. `similar`: zero means success, other codes are its own. `none`: its end says nothing. */
export type ExitRelation = 'same' | 'similar' | 'none'

interface Wrapper {
  /** Options that take the next word as their value. */
  readonly valued?: readonly string[]
  /** Options that take the next two words. */
  readonly paired?: readonly string[]
  /** Words before the command: the duration of `timeout`. */
  readonly operands?: number
  /** It runs another command only with one of these subcommands. */
  readonly verbs?: readonly string[]
  /** The words are a text for a shell, joined with this. */
  readonly joined?: ' ' | '\n'
  /** Options whose value is a text for a shell. */
  readonly scripts?: readonly string[]
  /** Options that say where the command runs. */
  readonly directory?: readonly string[]
  /** Its first operands that are not the command. */
  readonly skipped?: RegExp
  /** An unknown word before the command counts as assignments: `env $(cat settings) program`. */
  readonly takesUnknown?: true
  /** With this first option it only describes the command: `command -v`. */
  readonly describes?: RegExp
  /** It runs the command unchanged when all its options match. Absent: it never counts as unchanged. */
  readonly plain?: RegExp
  readonly limited?: true
  /** `same` when absent. */
  readonly exit?: ExitRelation
}

const noOption = /^$/

/** Every command that runs another command given in its words. The only list of them. */
function describeWrappers(): Readonly<Record<string, Wrapper>> {
  const simple: Wrapper = { valued: ['-a', '-f', '-o', '--format', '--output'] }
  const names =
    'nohup setsid builtin unbuffer bunx pnpx caffeinate chronic busybox toybox fakeroot proxychains proxychains4 catchsegv noglob nocorrect - time gtime ltrace torsocks linux32 linux64 i386 x86_64 uname26 eatmydata winpty'
  const timeout: Wrapper = {
    valued: ['-k', '--kill-after', '-s', '--signal'],
    operands: 1,
    plain: /^-k$/,
    limited: true,
  }
  return {
    ...Object.fromEntries(names.split(' ').map((name) => [name, simple])),
    command: { ...simple, describes: /^-[pvV]*[vV]/, plain: noOption },
    exec: { ...simple, plain: noOption },
    eval: { joined: ' ' },
    env: {
      valued: ['-u', '--unset'],
      directory: ['-C', '--chdir'],
      scripts: ['-S', '--split-string'],
      takesUnknown: true,
      plain: noOption,
    },
    sudo: {
      valued: '-u --user -g --group -h --host -p -C -R -T -r -t -U'.split(' '),
      directory: ['-D', '--chdir'],
    },
    doas: { valued: ['-u', '-C'] },
    su: { scripts: ['-c', '--command'], operands: 1 },
    runuser: { valued: ['-u'], scripts: ['-c', '--command'] },
    timeout,
    gtimeout: timeout,
    nice: { valued: ['-n', '--adjustment'], plain: /^(?:-n|-n?-?\d+|--adjustment(?:=-?\d+)?)$/ },
    ionice: { valued: ['-c', '-n', '-p'], plain: /^-(?:[cn]\d?|t)$/ },
    stdbuf: { valued: ['-i', '-o', '-e'], plain: /^-[ioe][L\dKMG]*$/ },
    chrt: { operands: 1 },
    setpriv: { valued: ['--reuid', '--regid', '--groups', '--securebits', '--bounding-set'] },
    prlimit: { valued: ['-p', '--pid', '-o', '--output'] },
    choom: { valued: ['-n', '--adjust', '-p', '--pid'] },
    runcon: { valued: ['-t', '-u', '-r', '-l'] },
    logsave: { valued: ['-s'], operands: 1 },
    faketime: { valued: ['-f'], operands: 1 },
    pkexec: { valued: ['--user'] },
    gosu: { operands: 1 },
    'su-exec': { operands: 1 },
    'systemd-run': { ...simple, exit: 'none' },
    bwrap: {
      valued: '--proc --dev --tmpfs --dir --unsetenv --hostname --cap-add'.split(' '),
      paired: '--setenv --bind --ro-bind --dev-bind --symlink --bind-try --ro-bind-try --dev-bind-try'.split(
        ' ',
      ),
      directory: ['--chdir'],
    },
    firejail: {},
    'xvfb-run': { valued: ['-n', '-s', '-e', '-f', '-p', '-w'] },
    'dbus-run-session': {},
    rlwrap: {},
    cgexec: { valued: ['-g'] },
    setarch: { skipped: /^(?:linux|i\d86|x86|arm|aarch|uname)/ },
    taskset: { operands: 1 },
    strace: { valued: ['-o', '-e', '-p', '-s'] },
    flock: { valued: ['-w', '-E'], operands: 1, scripts: ['-c', '--command'] },
    watch: { valued: ['-n', '--interval'], joined: ' ', exit: 'none' },
    script: {
      valued: ['-O', '-I', '-B', '-T', '-m', '-o'],
      scripts: ['-c', '--command'],
      operands: 1,
      exit: 'none',
    },
    unshare: {},
    chroot: { operands: 1 },
    xargs: { valued: ['-I', '-n', '-P', '-L', '-s', '-d', '-E', '-a', '-J'], exit: 'similar' },
    npx: { valued: ['-p', '--package'], scripts: ['-c', '--call'] },
    uvx: { valued: ['--from', '--with', '-p', '--python'] },
    npm: { verbs: ['exec', 'x'], valued: ['--package'], scripts: ['-c', '--call'] },
    pnpm: { verbs: ['exec', 'dlx'] },
    yarn: { verbs: ['exec', 'dlx', 'run'] },
    uv: {
      verbs: ['run'],
      valued: ['--with', '--from', '-p', '--python', '--env-file'],
      directory: ['--directory'],
    },
    poetry: { verbs: ['run'] },
    pipenv: { verbs: ['run'] },
    bundle: { verbs: ['exec'] },
    direnv: { verbs: ['exec'], operands: 1 },
    dotenv: { valued: ['-e', '-f', '-v', '-p'], verbs: ['run', '--'] },
    dotenvx: { valued: ['-f', '--env-file'], verbs: ['run'] },
    entr: { exit: 'none' },
    hyperfine: { valued: ['-w', '-r', '-m', '-M', '-s', '-p', '-n'], joined: '\n', exit: 'similar' },
    tmux: {
      verbs: 'new new-session new-window neww split-window run-shell send-keys'.split(' '),
      valued: ['-s', '-n', '-t', '-c'],
      joined: ' ',
      exit: 'none',
    },
    screen: { valued: ['-S', '-t', '-X'], exit: 'none' },
    concurrently: { valued: ['-n', '-c'], joined: '\n', exit: 'similar' },
  }
}

let table: Readonly<Record<string, Wrapper>> | undefined

/** Made when it is first needed: most hooks run no wrapper. */
function wrapperOf(name: string): Wrapper | undefined {
  table ??= describeWrappers()
  return Object.hasOwn(table, name) ? table[name] : undefined
}

export function isWrapper(name: string): boolean {
  return wrapperOf(name) !== undefined
}

/** Takes one layer off a command. Empty when the wrapper runs nothing; null when the command is not a wrapper. */
export function unwrap(name: string, args: readonly Arg[]): readonly Unwrapped[] | null {
  const wrapper = wrapperOf(name)
  if (wrapper === undefined) return null
  const {
    operands = 0,
    verbs,
    scripts = [],
    directory: movers = [],
    exit = 'same',
    limited = false,
  } = wrapper
  if (wrapper.describes?.test(args[0]?.value ?? '')) return []
  const found: Unwrapped[] = []
  const assignments: string[] = []
  let directory: string | null = null
  let plain = wrapper.plain !== undefined
  let hasVerb = verbs === undefined
  let index = 0
  for (; index < args.length; index += 1) {
    const value = args[index]?.value ?? ''
    const next = args[index + 1]
    const [, option = '', attached] = /^(--[\w-]+)=(.*)$/s.exec(value) ?? []
    if (!hasVerb && verbs?.includes(value)) hasVerb = true
    else if (value === '--') {
      index += 1
      break
    } else if (scripts.includes(lastLetter(value, scripts)) || scripts.includes(option)) {
      script(attached ?? next?.value ?? '')
      if (attached === undefined) index += 1
    } else if (movers.includes(value) || movers.includes(option)) {
      const to: string = attached ?? next?.value ?? ''
      directory = directory === null || to.startsWith('/') ? to : `${directory}/${to}`
      plain = false
      if (attached === undefined) index += 1
    } else if (attachedScript(value, scripts) !== null) script(attachedScript(value, scripts) ?? '')
    else if (value.startsWith('-') && value.length > 1) {
      plain &&= wrapper.plain?.test(value) === true
      if (wrapper.paired?.includes(value)) index += 2
      else if (takesNext(value, wrapper.valued ?? [])) index += 1
    } else if (wrapper.skipped?.test(value)) plain = false
    else if (/^\w+=/.test(value)) assignments.push(value)
    else if (!(wrapper.takesUnknown && value === hole && next !== undefined)) break
  }
  if (!hasVerb) return found.length > 0 ? found : null
  const words = args.slice(index + operands)
  const [first, text] = words
  if (first === undefined) return found
  if (limited) plain &&= /^\d+(?:\.\d+)?[smhd]?$/.test(args[index]?.value ?? '')
  if (scripts.includes(first.value) && text !== undefined) script(text.value)
  else if (wrapper.joined !== undefined) script(words.map(({ value }) => value).join(wrapper.joined))
  else found.push({ kind: 'words', words, ...effect() })
  return found

  function script(source: string): void {
    found.push({ kind: 'script', source, ...effect(), plain: false })
  }

  function effect(): WrapperEffect {
    return { assignments: [...assignments], directory, exit, plain, limited }
  }
}

/** `exec -la name`: the last letter takes the value. */
function takesNext(value: string, valued: readonly string[]): boolean {
  return valued.includes(value) || (/^-[a-z]{2,}$/.test(value) && valued.includes(`-${value.slice(-1)}`))
}

/** `env -S'rm -f x'`. */
function attachedScript(value: string, scripts: readonly string[]): string | null {
  const letter = value.slice(0, 2)
  return scripts.includes(letter) && /^-\w./.test(value) && !value.startsWith('--') ? value.slice(2) : null
}

/** `-qc` ends in `-c`. */
function lastLetter(value: string, scripts: readonly string[]): string {
  const last = `-${value.slice(-1)}`
  return /^-[a-zA-Z]{2,}$/.test(value) && scripts.includes(last) ? last : value
}
