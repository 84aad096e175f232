import { absolutePath, descriptorOf, textAt } from './absolute-path.ts'
import { isInterpreter } from './code/interpreter-call.ts'
import { runInterpreter } from './code/run-interpreter.ts'
import { readOptions } from './options.ts'
import { readShellCall, shells } from './shell-call.ts'
import {
  type Arg,
  argOf,
  type CommandOutcome,
  type ProgramCall,
  type Shell,
  type ShellState,
} from './shell-state.ts'
import { withFile, withVariable } from './state.ts'
import { isKnown } from './unknown-part.ts'

/** `bash -c TEXT`, `bash FILE`, `… | bash`. */
export function runShell({ args, state, shell, name }: ProgramCall): readonly CommandOutcome[] {
  const { script, file, rest, startFiles, onlyReads } = readShellCall(args)
  for (const each of [...startFiles, state.variables.get('BASH_ENV'), state.variables.get('ENV')])
    if (typeof each === 'string' && each !== '') runFile(each, [], state, shell)
  if (onlyReads && file !== null) return [{ state, ok: null, out: null }]
  // Functions and variables that are not exported are still seen inside: this only makes the answer stricter.
  if (script !== null) {
    const [zero, ...others] = rest.map(({ value }) => value)
    const inside = withVariable({ ...state, parameters: others }, '0', zero ?? name)
    return runText(script.value, inside, shell, name)
  }
  if (file !== null) return runFile(file.value, rest, state, shell)
  const parameters = rest.length > 0 ? rest.map(({ value }) => value) : state.parameters
  if (state.stdin !== null) return runText(state.stdin, { ...state, stdin: '', parameters }, shell, name)
  shell.opaque('', `what ${name} runs comes from elsewhere`)
  return []
}

export function runSource({ args, state, shell }: ProgramCall): readonly CommandOutcome[] {
  const [file, ...rest] = args
  if (file === undefined) return [{ state, ok: false, out: '' }]
  const outcomes = runFile(file.value, rest, state, shell)
  return outcomes.length === 0 ? [{ state, ok: null, out: null }] : outcomes
}

function runText(text: string, state: ShellState, shell: Shell, name: string): readonly CommandOutcome[] {
  if (!isKnown(text)) shell.opaque(text, `what ${name} runs is not wholly known`)
  return shell.script(text, state)
}

/** A file written by the command is judged in full, an existing one only by what it certainly does. */
function runFile(
  file: string,
  args: readonly Arg[],
  state: ShellState,
  shell: Shell,
): readonly CommandOutcome[] {
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

/** The interpreter of a script that is started by its path. */
export function scriptOf(
  path: string,
  state: ShellState,
  shell: Shell,
): ((args: readonly Arg[]) => readonly CommandOutcome[]) | null {
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

/** A makefile is only judged when the command writes it, and of it only what this call of make runs. */
export function runMake({ args, state, shell }: ProgramCall): void {
  const { values, operands } = readOptions(args, 'f file makefile E eval C directory j o W I')
  for (const { value } of values('E eval')) {
    shell.opaque(value, 'make runs rules that come with the command')
    for (const [, command = ''] of value.matchAll(/\$\(shell ([^)]*)\)/g)) shell.script(command, state)
  }
  const [directory] = values('C directory')
  const at = directory === undefined ? state.cwd : absolutePath(directory.value, state.cwd)
  const named = values('f file makefile').map(({ value }) => value)
  const targets = operands.map(({ value }) => value).filter((value) => !value.includes('='))
  for (const file of named.length > 0 ? named : ['GNUmakefile', 'makefile', 'Makefile']) {
    const text = textAt(file, { ...state, cwd: at })
    if (text === null) continue
    const reached = reachedRules(text, targets)
    // Variables of make are not followed.
    if (/\$/.test(reached))
      shell.opaque(reached, 'make runs rules that come with the command', { apart: true })
    for (const [, recipe = ''] of reached.matchAll(/(?:^\t|;|\$\(shell )[@+-]*(.+)$/gm))
      shell.script(recipe.replaceAll('$$', '$'), { ...state, cwd: at })
  }
}

/** The text without the rules that making these targets does not reach; the whole text where that is not plain. */
function reachedRules(text: string, targets: readonly string[]): string {
  if (/^-?include\b|^define\b|^[ \t]*\$|%|^\.(?!PHONY\b|DEFAULT_GOAL\b)[A-Z]/m.test(text)) return text
  const blocks = text.split(/\n(?=[^\s#])/)
  const rules = blocks.flatMap((block) => {
    const [, names = '', needs = ''] = /^([^\t\n:=#$]+):(?!=)([^\n;]*)/.exec(block) ?? []
    return names === '' ? [] : [{ block, names: names.trim().split(/\s+/), needs: needs.trim().split(/\s+/) }]
  })
  if (rules.some(({ needs }) => needs.some((need) => need.includes('$')))) return text
  const goal = /^\.DEFAULT_GOAL\s*:?=\s*(\S+)/m.exec(text)?.[1]
  const first = goal ?? rules.find(({ names }) => !names[0]?.startsWith('.'))?.names[0] ?? ''
  const reached = new Set(targets.length === 0 ? [first] : targets)
  for (let size = 0; size !== reached.size; ) {
    size = reached.size
    for (const { names, needs } of rules)
      if (names.some((name) => reached.has(name))) for (const need of needs) reached.add(need)
  }
  const left = rules.filter(({ names }) => !names.some((name) => reached.has(name)))
  return blocks.filter((block) => !left.some((rule) => rule.block === block)).join('\n')
}

/** Scripts of a package that the command itself defines run when it asks for them. Returns the state with a script that it sets. */
export function runNpm({ args, state, shell }: ProgramCall): ShellState {
  const words = readOptions(args).operands.map(({ value }) => value)
  const file = absolutePath('package.json', state.cwd)
  const made = state.made.files.get(file)
  if (words[0] === 'pkg' && words[1] === 'set') {
    const scripts = words.slice(2).flatMap((setting) => {
      const [, name = '', script] = /^scripts\.([^=]+)=(.*)$/s.exec(setting) ?? []
      return script === undefined ? [] : [`${JSON.stringify(name)}: ${JSON.stringify(script)}`]
    })
    return scripts.length === 0 ? state : withFile(state, file, `${made ?? ''}\n${scripts.join('\n')}`)
  }
  // Printing and editing the manifest runs nothing.
  if (made === undefined || idle.has(words[0] ?? '')) return state
  for (const [, script = ''] of made.matchAll(/"[\w:-]+"\s*:\s*"((?:[^"\\]|\\.)*)"/g))
    shell.script(script.replaceAll(/\\(.)/g, '$1'), state)
  return state
}

const idle = new Set(['pkg', 'view', 'ls', 'list', 'outdated', 'config', 'help', 'search', 'whoami'])
