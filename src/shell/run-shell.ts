import { absolutePath, descriptorOf } from './absolute-path.ts'
import { isInterpreter, runInterpreter } from './code/interpreters.ts'
import { type Arg, argOf, type Invocation, type Outcome, type Shell, type ShellState } from './interpreter.ts'
import { withVariable } from './state.ts'
import { isKnown } from './unknown.ts'

export const shells: ReadonlySet<string> = new Set([
  'sh',
  'bash',
  'dash',
  'zsh',
  'ksh',
  'ash',
  'mksh',
  'rbash',
  'fish',
  'csh',
  'tcsh',
])

/** `bash -c TEXT`, `bash FILE`, `… | bash`. */
export function runShell({ args, state, shell, name }: Invocation): readonly Outcome[] {
  let takesScript = false
  let reads = false
  let index = 0
  for (; index < args.length; index += 1) {
    const value = args[index]?.value ?? ''
    if (value === '--') {
      index += 1
      break
    }
    if (!/^[-+]./.test(value)) break
    if (/^-[a-zA-Z]*c[a-zA-Z]*$/.test(value)) takesScript = true
    if (/^-[a-zA-Z]*s[a-zA-Z]*$/.test(value)) reads = true
    if (/^[-+]o$|^[-+]O$/.test(value)) index += 1
    if (/^--(?:rcfile|init-file)$/.test(value)) {
      index += 1
      runFile(args[index]?.value ?? '', [], state, shell)
    }
  }
  for (const each of ['BASH_ENV', 'ENV']) {
    const file = state.variables.get(each)
    if (typeof file === 'string' && file !== '') runFile(file, [], state, shell)
  }
  const [first, ...rest] = args.slice(index)
  // Functions and what is not exported stay behind; that they may be seen here only makes the answer stricter.
  if (takesScript && first !== undefined) {
    const [zero, ...others] = rest.map(({ value }) => value)
    const inside = withVariable({ ...state, parameters: others }, '0', zero ?? name)
    return runText(first.value, inside, shell, name)
  }
  if (first !== undefined && !reads) return runFile(first.value, rest, state, shell)
  const parameters = reads ? args.slice(index).map(({ value }) => value) : state.parameters
  if (state.stdin !== null) return runText(state.stdin, { ...state, stdin: '', parameters }, shell, name)
  shell.opaque('', `what ${name} runs comes from elsewhere`)
  return []
}

export function runSource({ args, state, shell }: Invocation): readonly Outcome[] {
  const [file, ...rest] = args
  if (file === undefined) return [{ state, ok: false, out: '' }]
  const outcomes = runFile(file.value, rest, state, shell)
  return outcomes.length === 0 ? [{ state, ok: null, out: null }] : outcomes
}

function runText(text: string, state: ShellState, shell: Shell, name: string): readonly Outcome[] {
  if (!isKnown(text)) shell.opaque(text, `what ${name} runs is not wholly known`)
  return shell.script(text, state)
}

/** A file the command made itself is judged in full, one that is there anyway only by what it surely does. */
function runFile(file: string, args: readonly Arg[], state: ShellState, shell: Shell): readonly Outcome[] {
  const path = absolutePath(file, state.cwd)
  const inside = {
    ...state,
    parameters: args.length === 0 ? state.parameters : args.map(({ value }) => value),
  }
  const own = descriptorOf(path) === '0' ? state.stdin : state.made.files.get(path)
  if (own !== undefined && own !== null) return shell.script(own, inside)
  if (!isKnown(path) || /^\.env|\/\.env[^/]*$/.test(file)) return []
  const text = shell.world.readText(path, maxScript)
  return text === null ? [] : shell.script(text, inside, 'sure')
}

const maxScript = 65_536

/** A file that is started by its path and that is a script: what runs it. */
export function scriptOf(
  path: string,
  state: ShellState,
  shell: Shell,
): ((args: readonly Arg[]) => readonly Outcome[]) | null {
  const made = state.made.files.get(path)
  const text =
    made ??
    (/^(?!\/(?:usr|bin|sbin|opt|nix)\/).*(?:\.(?:sh|bash|zsh|command)|\/[^./]+)$/.test(path)
      ? shell.world.readText(path, maxScript)
      : null)
  if (text === null || text === undefined) return null
  const [, program = ''] = /^#!\s*(?:\S*\/env\s+(?:-S\s+)?)?(\S+)/.exec(text) ?? []
  const name = program.slice(program.lastIndexOf('/') + 1)
  if (isInterpreter(name))
    return (args) => {
      runInterpreter({ name, args: [argOf(path), ...args], state, shell })
      return []
    }
  if (!shells.has(name) && !(name === '' && (made !== undefined || /\.(?:sh|bash|zsh)$/.test(path))))
    return null
  return (args) => runFile(path, args, state, shell)
}
