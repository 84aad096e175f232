import { absolutePath, descriptorOf } from './absolute-path.ts'
import { isInterpreter } from './code/interpreter-call.ts'
import { runInterpreter } from './code/run-interpreter.ts'
import {
  type Arg,
  argOf,
  type CommandOutcome,
  type ProgramCall,
  type Shell,
  type ShellState,
} from './interpreter.ts'
import { readOptions } from './options.ts'
import { readShellCall, shells } from './shell-call.ts'
import { withVariable } from './state.ts'
import { isKnown } from './unknown.ts'

/** `bash -c TEXT`, `bash FILE`, `… | bash`. */
export function runShell({ args, state, shell, name }: ProgramCall): readonly CommandOutcome[] {
  const { script, file, rest, startFiles } = readShellCall(args)
  for (const each of [...startFiles, state.variables.get('BASH_ENV'), state.variables.get('ENV')])
    if (typeof each === 'string' && each !== '') runFile(each, [], state, shell)
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

/** A file the command made itself is judged in full, one that is there anyway only by what it surely does. */
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

/** A file that is started by its path and that is a script: what runs it. */
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

/** A makefile is out of sight, unless it comes with the command. */
export function runMake({ args, state, shell }: ProgramCall): void {
  const valued = ['f', 'file', 'makefile', 'E', 'eval', 'C', 'directory', 'j', 'o', 'W', 'I']
  const { values } = readOptions(args, valued)
  for (const { value } of values('E', 'eval')) {
    shell.opaque(value, 'make runs rules that come with the command')
    for (const [, command = ''] of value.matchAll(/\$\(shell ([^)]*)\)/g)) shell.script(command, state)
  }
  const [directory] = values('C', 'directory')
  const at = directory === undefined ? state.cwd : absolutePath(directory.value, state.cwd)
  const named = values('f', 'file', 'makefile').map(({ value }) => value)
  for (const file of named.length > 0 ? named : ['GNUmakefile', 'makefile', 'Makefile']) {
    const isInput = file === '-' || file === '/dev/stdin'
    const text = isInput ? state.stdin : state.made.files.get(absolutePath(file, at))
    if (text === null || text === undefined) continue
    shell.opaque(text, 'make runs rules that come with the command')
    for (const [, recipe = ''] of text.matchAll(/(?:^\t|;)[@+-]*(.+)$/gm))
      shell.script(recipe.replaceAll('$$', '$'), { ...state, cwd: at })
  }
}

/** Scripts of a package that the command itself defines run when it asks for them. */
export function runNpm({ args, state, shell }: ProgramCall): void {
  const words = readOptions(args).operands.map(({ value }) => value)
  if (words[0] === 'pkg' && words[1] === 'set')
    for (const setting of words.slice(2)) {
      const [, script] = /^scripts\.[^=]+=(.*)$/s.exec(setting) ?? []
      if (script !== undefined) shell.script(script, state)
    }
  const made = state.made.files.get(absolutePath('package.json', state.cwd))
  if (made === undefined) return
  for (const [, script = ''] of made.matchAll(/"[\w:-]+"\s*:\s*"((?:[^"\\]|\\.)*)"/g))
    shell.script(script.replaceAll(/\\(.)/g, '$1'), state)
}
