import { type CommandWord, programName } from './target.ts'

/** What a command really runs: another command, a script in shell language, or nothing. */
export type Unwrapped =
  | { readonly kind: 'command'; readonly words: readonly CommandWord[]; readonly exit: ExitRelation }
  | { readonly kind: 'script'; readonly source: string }
  | { readonly kind: 'nothing' }

/** `same`: the wrapper ends as what it wraps. `similar`: zero means success, other codes are its own. `none`: they tell nothing. */
type ExitRelation = 'same' | 'similar' | 'none'

/**
 * Takes one layer off a command: `env X=1 tool a` runs `tool a`, `bash -lc '…'` runs a script, `python tool.py` runs `tool.py`.
 * null when the command is no wrapper.
 */
export function unwrapCommand(words: readonly CommandWord[]): Unwrapped | null {
  const [program, ...args] = words
  if (program === undefined) return null
  const name = programName(program.value)
  if (shells.has(name)) return unwrapShell(args)
  if (name === 'eval') return { kind: 'script', source: args.map(({ value }) => value).join(' ') }
  if (name === 'find') return unwrapFind(args)
  if (name === 'command' && args[0] !== undefined && /^-[vV]$/.test(args[0].value)) return { kind: 'nothing' }
  if (interpreters.test(name)) return unwrapInterpreter(args)
  const wrapper = wrappers.get(name)
  if (wrapper === undefined) return null
  const { valued = [], operands = 0, verbs, exit = 'same' } = wrapper
  const rest = verbs === undefined ? args : afterVerb(args, verbs)
  if (rest === null) return null
  const inner = skipOptions(rest, valued, /^\w+=/).slice(operands)
  return inner.length === 0 ? { kind: 'nothing' } : { kind: 'command', words: inner, exit }
}

interface Wrapper {
  /** Options that take the next word as their value. */
  readonly valued?: readonly string[]
  /** Words before the command: the duration of `timeout`. */
  readonly operands?: number
  /** Only with one of these subcommands does it run another command. */
  readonly verbs?: readonly string[]
  readonly exit?: ExitRelation
}

const shells = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash', '.', 'source'])

const interpreters = /^(python[\d.]*|node|nodejs|ruby|perl|php|deno|bun|tsx|ts-node)$/

const wrappers = new Map<string, Wrapper>([
  ['env', { valued: ['-u', '--unset', '-C', '--chdir'] }],
  [
    'sudo',
    { valued: ['-u', '--user', '-g', '--group', '-h', '-p', '-C', '-D', '-R', '-T', '-r', '-t', '-U'] },
  ],
  ['doas', { valued: ['-u', '-C'] }],
  ['timeout', { valued: ['-k', '--kill-after', '-s', '--signal'], operands: 1 }],
  ['gtimeout', { valued: ['-k', '--kill-after', '-s', '--signal'], operands: 1 }],
  ['time', { valued: ['-f', '--format', '-o', '--output'] }],
  ['nice', { valued: ['-n', '--adjustment'] }],
  ['ionice', { valued: ['-c', '-n'] }],
  ['stdbuf', { valued: ['-i', '-o', '-e'] }],
  ['exec', { valued: ['-a'] }],
  ['xargs', { valued: ['-I', '-n', '-P', '-L', '-s', '-d', '-E', '-a'], exit: 'similar' }],
  ['npx', { valued: ['-p', '--package'] }],
  ['uvx', { valued: ['--from', '--with', '-p', '--python'] }],
  ['npm', { verbs: ['exec', 'x'], valued: ['--package'] }],
  ['pnpm', { verbs: ['exec', 'dlx'] }],
  ['yarn', { verbs: ['exec', 'dlx', 'run'] }],
  ['uv', { verbs: ['run'], valued: ['--with', '--from', '-p', '--python', '--directory'] }],
  ['poetry', { verbs: ['run'] }],
  ['pipenv', { verbs: ['run'] }],
  ['bundle', { verbs: ['exec'] }],
  ...['nohup', 'setsid', 'builtin', 'command', 'unbuffer', 'bunx', 'pnpx', 'caffeinate'].map(
    (name): [string, Wrapper] => [name, {}],
  ),
])

function unwrapShell(args: readonly CommandWord[]): Unwrapped {
  let takesScript = false
  for (let index = 0; index < args.length; index += 1) {
    const word = args[index]
    if (word === undefined) break
    const isOption = /^[-+]./.test(word.value) && word.value !== '--'
    if (!isOption && word.value !== '--') {
      if (takesScript) return { kind: 'script', source: word.value }
      return { kind: 'command', words: args.slice(index), exit: 'same' }
    }
    if (/^-[a-zA-Z]*c[a-zA-Z]*$/.test(word.value)) takesScript = true
    if (/^[-+]o$|^--(rcfile|init-file)$/.test(word.value)) index += 1
  }
  return { kind: 'nothing' }
}

function unwrapInterpreter(args: readonly CommandWord[]): Unwrapped {
  const module = args.findIndex(({ value }) => value === '-m')
  const firstOperand = args.findIndex(({ value }) => !value.startsWith('-'))
  if (module !== -1 && module < (firstOperand === -1 ? args.length : firstOperand))
    return commandOrNothing(args.slice(module + 1))
  if (args.some(({ value }, index) => /^(-c|-e|-p|--eval|--print)$/.test(value) && index <= firstOperand))
    return { kind: 'nothing' }
  const rest = skipOptions(args, ['-W', '-X', '-r', '--require', '--import', '--loader', '-I'])
  const [first] = rest
  if (first?.value === 'run' && rest.length > 1) return commandOrNothing(skipOptions(rest.slice(1), []))
  return commandOrNothing(rest)
}

function unwrapFind(args: readonly CommandWord[]): Unwrapped | null {
  const start = args.findIndex(({ value }) => /^-(exec|execdir|ok|okdir)$/.test(value))
  if (start === -1) return null
  const end = args.findIndex(({ value }, index) => index > start && (value === ';' || value === '+'))
  const words = args.slice(start + 1, end === -1 ? args.length : end)
  return words.length === 0 ? { kind: 'nothing' } : { kind: 'command', words, exit: 'none' }
}

function commandOrNothing(words: readonly CommandWord[]): Unwrapped {
  return words.length === 0 ? { kind: 'nothing' } : { kind: 'command', words, exit: 'same' }
}

/** The words after the options (and, where given, after words such as `X=1`). */
function skipOptions(
  words: readonly CommandWord[],
  valued: readonly string[],
  alsoSkip?: RegExp,
): readonly CommandWord[] {
  for (let index = 0; index < words.length; index += 1) {
    const value = words[index]?.value ?? ''
    if (value === '--') return words.slice(index + 1)
    if (/^-./.test(value)) {
      if (valued.includes(value)) index += 1
    } else if (alsoSkip?.test(value) !== true) return words.slice(index)
  }
  return []
}

function afterVerb(args: readonly CommandWord[], verbs: readonly string[]): readonly CommandWord[] | null {
  const at = args.findIndex(({ value }) => !value.startsWith('-'))
  return verbs.includes(args[at]?.value ?? '') ? args.slice(at + 1) : null
}
