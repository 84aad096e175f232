import { posix } from 'node:path'
import type { SimpleCommand } from './simple-command.ts'
import { isKnown, unknownPart } from './unknown-part.ts'

/** What earlier parts of a script did to the shell that runs the later ones. */
export interface ScriptState {
  /** Working directory; null when it is not known. */
  readonly directory: string | null
  /** Where `cd -` leads, and before it where `popd` does. */
  readonly before?: readonly (string | null)[]
  /** Whether a directory is there, so that `cd` into it cannot fail. */
  isDirectory?(path: string): boolean
  /** Top of the git working tree around it, if known. */
  readonly top?: string
  readonly pipefail: boolean
  /** Nothing in the script reads variables of any name, as a Makefile does. */
  readonly free?: boolean
  /** Why later commands may not mean what they say; null without a sign of that. */
  readonly changed: string | null
}

/** What is true for both paths of the script. */
export function eitherState(a: ScriptState, b: ScriptState): ScriptState {
  return {
    directory: a.directory === b.directory ? a.directory : null,
    pipefail: a.pipefail && b.pipefail,
    changed: a.changed ?? b.changed,
    ...(a.isDirectory !== undefined && { isDirectory: a.isDirectory }),
    ...(a.before === b.before && a.before !== undefined && { before: a.before }),
    ...(a.top !== undefined && { top: a.top }),
    ...(a.free === true && { free: true }),
  }
}

/** Variables of the script itself, which no program reads. */
const onlyNotes =
  /^(?:PID|SERVER_PID|ROOT|TOP|REPO(?:_ROOT)?|PROJECT_ROOT|START|BEGIN|END|N|I|CODE|RC|STATUS|EXIT(?:_CODE)?|RESULT|OUT(?:PUT)?)$/i

/** The state after a simple command. */
export function stateAfter(command: SimpleCommand, state: ScriptState): ScriptState {
  const [name, ...args] = ownWords(command)
  const changed = (why: string): ScriptState => ({ ...state, changed: state.changed ?? why })
  if (name === undefined) {
    const steering = command.assignments.find(
      ({ name: variable, text }) => !onlyNotes.test(variable) && !isHarmlessAssignment(text, state.free),
    )
    return steering === undefined ? state : changed(`\`${steering.name}\` is set before it`)
  }
  if (!isKnown(name)) return changed('a command before it has a name that only the shell knows')
  switch (name) {
    case 'cd':
    case 'pushd':
    case 'popd':
      return {
        ...state,
        directory: directoryAfter(name, args, state),
        before: name === 'popd' ? (state.before ?? []).slice(1) : [state.directory, ...(state.before ?? [])],
      }
    case 'set':
      return (
        stateAfterSet(args, state) ?? {
          ...changed(`\`set ${args.join(' ')}\` is before it`),
          pipefail: state.pipefail || /(?:^| )-\w*o pipefail(?: |$)/.test(args.join(' ')),
        }
      )
    case 'source':
    case '.':
      return setsUp(args) ? state : changed(bySource)
    case 'export':
    case 'declare':
    case 'typeset':
    case 'local':
    case 'readonly':
    case 'unset': {
      const steering = args.find((arg) => !arg.startsWith('-') && !isHarmlessAssignment(arg, state.free))
      return steering === undefined ? state : changed(`\`${name}\` changes its environment: \`${steering}\``)
    }
    case 'printf':
    case 'read':
    case 'mapfile':
    case 'readarray': {
      const steering = args.find(
        (arg, at) =>
          (name === 'printf' ? args[at - 1] === '-v' : !arg.startsWith('-')) &&
          /^[A-Z_]/.test(arg) &&
          !isHarmlessAssignment(arg, state.free),
      )
      return steering === undefined ? state : changed(`\`${name}\` sets \`${steering}\` before it`)
    }
    case 'exit':
    case 'return':
    case 'exec':
    case 'break':
    case 'continue':
    case 'logout':
      return name === 'exec' && args.length === 0
        ? state
        : changed(`\`${name}\` is before it, and the shell may have ended there`)
    case 'eval':
      return args.length === 1 && setUpByEval.test(args[0] ?? '')
        ? state
        : changed('`eval` before it can change what it means or how it ends')
    case 'alias':
    case 'unalias':
    case 'trap':
    case 'shopt':
    case 'enable':
    case 'hash':
    case 'builtin':
    case 'bind':
    case 'setopt':
    case 'unsetopt':
    case 'function':
      return changed(`\`${name}\` before it can change what it means or how it ends`)
    default:
      return state
  }
}

/** Whether the command changes the shell's directory; `cd .` does not. */
export function movesShell(command: SimpleCommand): boolean {
  const [name, ...args] = ownWords(command)
  return name === 'pushd' || name === 'popd' || (name === 'cd' && !stays(args))
}

/** `command cd x` runs the shell's own `cd`. */
function ownWords({ words }: SimpleCommand): readonly string[] {
  const at = words.findIndex((word) => word !== 'command')
  return at === -1 ? words : words.slice(at)
}

/**
 * `NAME=value` that changes how a run looks or where it finds the project's own code, not what it runs. `free` allows every name that no
 * tool reads.
 */
export function isHarmlessAssignment(text: string, free = false): boolean {
  const [, name = text, quoted = ''] = /^(\w+)=(.*)$/s.exec(text) ?? []
  const value = quoted.replaceAll(unknownPart, '').replaceAll(/['"]/g, '')
  if (name === 'PATH') return value.split(':').every((entry) => usualPrograms.test(entry))
  if (/^\$\(mktemp(?: -[dtu]+| \/tmp\/[\w.-]+)*\)$/.test(value))
    return /^(?:TE?MP(?:DIR)?|[A-Z]|\w*(?:LOG|OUT|FILE)|[a-z]+)$/.test(name)
  if (name === 'PYTHONPATH') return value.split(':').every(isOwnPlace)
  if (name === 'NODE_OPTIONS') return harmlessNode.test(value)
  // A number, in a variable of the script.
  if (value === '$?' && /^[a-z]+(?:\d|_(?:rc|ec|status|code|exit))?$/.test(name)) return true
  // Without it, files that use C are left out.
  if (name === 'CGO_ENABLED') return value === '1'
  if (Object.hasOwn(harmlessValues, name)) return harmlessValues[name]?.test(value) === true
  const isOwn = free && /^[A-Z][A-Z\d_]{2,}$/.test(name) && !steering.test(name) && !/\$\(|`/.test(value)
  return isOwn || harmless.test(name)
}

const memory =
  /^(?:-(?:X(?:mx|ms|ss)\d+[kmg]|D(?:file\.encoding|java\.awt\.headless|org\.gradle\.daemon)=[\w-]+)\s*)*$/i
const harmlessValues: Readonly<Record<string, RegExp>> = {
  MAVEN_OPTS: memory,
  GRADLE_OPTS: memory,
  JAVA_HOME: /^(?:\/usr\/lib\/jvm|\/opt|\/Library\/Java|(?:~|\$\{?HOME\}?)\/\.sdkman)\/[\w./+-]+$/,
  GOFLAGS: /^(?:-(?:mod=\w+|count=1|race|v|buildvcs=\w+)\s*)*$/,
  RUSTFLAGS: /^(?:-[DW] ?[\w:-]+\s*)*$/,
  MIX_ENV: /^test$/,
  GO111MODULE: /^(?:on|auto)$/,
}

/** Names that tools read, or that say that something is left out, or that `echo` may print. */
const steering =
  /^(?:PATH|HOME|ENV|IFS|PS4|MFLAGS|CDPATH|GLOBIGNORE|VIRTUAL_ENV|AWKPATH|RC|STATUS|CODE|EXIT_CODE|(?:BASH|SHELL|PROMPT|LD|DYLD|NODE|NPM|NPX|YARN|PNPM|BUN|DENO|COREPACK|PY|COV|TOX|NOX|PIP|UV|POETRY|PDM|HATCH|CONDA|GO|CGO|CARGO|RUST|MAKE|JAVA|_JAVA|JDK|MAVEN|MVN|GRADLE|KOTLIN|DOTNET|MSBUILD|VSTEST|COMPLUS|RUBY|BUNDLE|GEM|RSPEC|SPEC|PHP|COMPOSER|MIX|ERL|ELIXIR|PERL|GIT|VITEST|JEST|MOCHA|AVA|TAP|CYPRESS|PLAYWRIGHT|ESLINT|TS_NODE|TSX|BABEL|RUFF|MYPY|GANTRY|HARNESS|CLAUDE|XDG)\w*)$|SKIP|ONLY|FILTER|SELECT|EXCLUDE|IGNORE|DISABLE|FAST|QUICK|SMOKE|SHORT|SUBSET|SHARD|MATCH|PATTERN|GREP|TEST|SUITE|MOCK|FAKE|STUB|DRY|OPT|FLAG|ARGS|PRELOAD|WRAP|RUN|CMD|COMMAND|EXEC|CONFIG|SHELL|HOOK|UPDATE|SNAPSHOT|CHECK|LINT/

/** Where installers put programs. Scripts that a session wrote there are looked at: see `fakeRunner`. */
const usualPrograms =
  /^(?:\$\{?PATH\}?|\/(?:usr|usr\/local|opt\/homebrew|usr\/local\/go)\/s?bin|\/s?bin|(?:~|\$\{?HOME\}?)\/(?:\.(?:cargo|local|bun|deno|volta|pyenv|rbenv|dotnet)\/bin|\.(?:pyenv|rbenv|asdf)\/shims|go\/bin)|(?:(?:\.|\$\{?PWD\}?|\$\(pwd\))\/)?(?:node_modules\/\.bin|\.?venv\/bin))$/

/** A directory of the project, whose files belong to the verified tree, or what the variable already was. */
function isOwnPlace(entry: string): boolean {
  if (/^\$\{?PYTHONPATH\b[^/]*$/.test(entry)) return true
  return !entry.includes('..') && /^(?:\.|\$\{?PWD\}?|\$\(pwd\)|[\w-])[\w./-]*$/.test(entry)
}

export const harmlessNode =
  /^(?:--(?:max-old-space-size=\d+|experimental-vm-modules|no-warnings|no-deprecation|trace-warnings|enable-source-maps|unhandled-rejections=strict)(?:\s+|$))*$/

const harmless =
  /^(?:CI|NO_COLOR|FORCE_COLOR|CLICOLOR(?:_FORCE)?|COLUMNS|LINES|TERM|LANG|LC_\w+|TZ|NODE_ENV|DEBUG|LOG_LEVEL|RUST_BACKTRACE|RUST_LOG|CARGO_TERM_COLOR|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|PYTHONHASHSEED|PYTHONFAULTHANDLER|PYTHONWARNINGS|NODE_NO_WARNINGS|PYTHONASYNCIODEBUG|PYTHONTRACEMALLOC|PYTHONIOENCODING|PYTHONUTF8|DJANGO_SETTINGS_MODULE|FLASK_ENV|RAILS_ENV|RACK_ENV|APP_ENV|PORT|(?:TEST_)?DATABASE_URL|REDIS_URL|GOMAXPROCS|GOTRACEBACK|GOCACHE|GOMODCACHE|GOPROXY|GOPRIVATE|CARGO_INCREMENTAL|CARGO_TARGET_DIR|CARGO_TERM_PROGRESS_WHEN|DOTNET_NOLOGO|DOTNET_CLI_TELEMETRY_OPTOUT|UV_FROZEN|UV_OFFLINE|UV_CACHE_DIR|NVM_DIR|VITEST_MAX_THREADS)$/

function stays(args: readonly string[]): boolean {
  return args.length === 1 && /^(?:\.\/*|\0"?\$(?:\{?PWD\}?|\(pwd\)))$/.test(args[0] ?? '')
}

/** A path that goes up is followed only from a directory that is there: a `cd` before it may have failed. */
function directoryAfter(
  name: string,
  args: readonly string[],
  { directory: before, before: left, top, isDirectory }: ScriptState,
): string | null {
  const isSure = before !== null && isDirectory?.(before) === true
  if (name === 'popd' ? args.length === 0 : name === 'cd' && args[0] === '-' && args.length === 1)
    return isSure ? (left?.[0] ?? null) : null
  if (name === 'popd') return null
  if (stays(args)) return before
  if (
    top !== undefined &&
    args.length === 1 &&
    /^\0"?\$\(git rev-parse --show-toplevel\)$/.test(args[0] ?? '')
  )
    return before !== null && `${before}/`.startsWith(`${top}/`) ? top : null
  const [target, ...more] = args[0] === '--' ? args.slice(1) : args
  if (target === undefined || more.length > 0 || !isKnown(target) || /^[-~]/.test(target)) return null
  if (target.startsWith('/')) return posix.normalize(target)
  const next = before === null ? null : posix.join(before, target).replace(/(?<=.)\/$/, '')
  if (next === null || (target.split('/').includes('..') && !(isSure && isDirectory?.(next)))) return null
  return next
}

const shellOptions = new Set(['allexport', 'errexit', 'nounset', 'pipefail', 'xtrace', 'verbose'])

/** null when an option is set that changes how commands run or end. */
function stateAfterSet(args: readonly string[], state: ScriptState): ScriptState | null {
  let { pipefail } = state
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? ''
    if (arg === '--') break
    if (/^[-+][aeuxv]*o$/.test(arg)) {
      index += 1
      const option = args[index] ?? ''
      if (!shellOptions.has(option)) return null
      if (option === 'pipefail') pipefail = arg.startsWith('-')
      if (arg.startsWith('+') && (arg.includes('e') || option === 'errexit')) return null
    } else if (!/^-[aeuxv]+$|^\+a$/.test(arg)) return null
  }
  return { ...state, pipefail }
}

export const bySource = 'a sourced script before it can redefine the command'

/** Whether these arguments of `source` name a script that only sets up an environment. Those that a session wrote are looked at: see `fakeRunner`. */
export function setsUp(args: readonly string[]): boolean {
  return args.length === 1 && settingUp.test(args[0] ?? '')
}

/** Of Python, of the managers of versions in the home, and of the user's own shell. */
const settingUp =
  /^(?:(?:\.\/)?\.?v?env\/bin\/activate|(?:~|\0"?\$\{?HOME\}?)\/\.(?:cargo\/env|nvm\/nvm\.sh|asdf\/asdf\.sh|bashrc|bash_profile|profile|zshrc)|\0"?\$\{?NVM_DIR\}?\/nvm\.sh)$/

/** What `eval` may run: the same managers print assignments for it. */
export const setUpByEval =
  /^\0"?\$\((?:fnm env(?: --[\w-]+(?:[= ]\w+)?)*|(?:py|rb|nod)env init(?: -| --path| \w+)*|mise activate(?: \w+)?|\S*brew shellenv)\)$/
