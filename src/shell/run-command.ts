import { absolutePath, leadsTo, textAt } from './absolute-path.ts'
import { fd, fdParts, parallel, xargs } from './argument-feeders.ts'
import { builtins, printInto } from './builtins.ts'
import { isInterpreter } from './code/interpreter-call.ts'
import { judgeAwk } from './code/judge-code.ts'
import { runInterpreter } from './code/run-interpreter.ts'
import { runInContainer } from './containers.ts'
import { runIndexes } from './expand-parameter.ts'
import { readOptions } from './options.ts'
import { printers, printsSettings, silent } from './printers.ts'
import { find } from './programs/find.ts'
import { programs } from './programs/index.ts'
import { guessedOutput } from './programs/outputs.ts'
import { quoteWord } from './quote-word.ts'
import { runMake, runNpm, runShell, runSource, scriptOf } from './run-scripts.ts'
import { shells } from './shell-call.ts'
import {
  type Arg,
  argOf,
  type CommandOutcome,
  type ProgramCall,
  type Shell,
  type ShellState,
} from './shell-state.ts'
import { leaveSubshell, withVariable } from './state.ts'
import { isKnown, searchResult } from './unknown-part.ts'
import { programPath } from './world.ts'
import type { WrapperEffect } from './wrapper.ts'
import { maxReadings } from './wrapper-paths.ts'
import { unwrapEveryReading } from './wrappers.ts'

/** Runs one command with expanded words. */
export function runCommand(
  words: readonly Arg[],
  state: ShellState,
  shell: Shell,
): readonly CommandOutcome[] {
  const [first, ...args] = words
  if (first === undefined) return [{ state, ok: true, out: '' }]
  if (!isKnown(first.value)) {
    shell.opaque(
      words.map(({ value, text }) => `${text} ${value}`).join(' '),
      'which program runs is only known then',
    )
    return [unknown(state)]
  }
  const known = first.value === first.text || first.text === `\\${first.value}`
  const alias = known ? state.aliases.get(first.value) : undefined
  if (alias !== undefined) return runAlias(first.value, alias, args, state, shell)
  const body = state.functions.get(first.value)
  if (body !== undefined) {
    const inside = { ...state, parameters: args.map(({ value }) => value) }
    return shell
      .call(body, inside)
      .map((outcome) => ({ ...outcome, state: { ...outcome.state, parameters: state.parameters } }))
  }
  const path = first.value.includes('/')
    ? (leadsTo(absolutePath(first.value, state.cwd), state).at(-1) ?? '')
    : (madeProgram(first.value, state) ?? first.value)
  const last = path.slice(path.lastIndexOf('/') + 1)
  const name = last.includes('.') ? last.replace(/\.exe$/i, '') : last
  return runProgram({ name, args, state, shell }, path)
}

/** A program written by the command and found through a changed `PATH`. */
function madeProgram(name: string, { made, variables }: ShellState): string | undefined {
  if (!variables.has('PATH')) return undefined
  return [...made.files.keys()].find((path) => path.endsWith(`/${name}`))
}

function runProgram(invocation: ProgramCall, path: string): readonly CommandOutcome[] {
  const { name, args, state, shell } = invocation
  const builtin = builtins.get(name)
  if (builtin !== undefined) return builtin(invocation)
  if (name === 'printf') {
    const next = printInto(invocation)
    if (next !== null) return [{ state: next, ok: true, out: '' }]
  }
  if (name === 'source' || name === '.') return runSource(invocation)
  if (shells.has(name)) return apart(invocation, runShell(invocation))
  if (name === 'test' || name === '[') for (const { value } of args) runIndexes(value, state, shell)
  const asked = name === 'command' && /^-[pvV]*[vV]/.test(args[0]?.value ?? '') ? args[1] : undefined
  if (asked !== undefined) return [{ state, ok: null, out: `${programPath(asked.value, shell.world)}\n` }]
  if (name === 'xargs' || name === 'gxargs') {
    xargs(invocation)
    return [unknown(state)]
  }
  if (name === 'npm' || name === 'pnpm' || name === 'yarn' || name === 'bun') {
    const set = runNpm(invocation)
    if (set !== state) return [{ state: set, ok: true, out: '' }]
  }
  if (name === 'parallel' || name === 'sem') {
    parallel(invocation)
    return [unknown(state)]
  }
  const readings = unwrapEveryReading(name, args)
  // A wrapper without a command, such as `ssh-agent -s`, is a program like any other.
  if (readings?.some((layers) => layers.length > 0)) {
    if (readings.length >= maxReadings)
      shell.opaque(args.map(({ value }) => value).join(' '), `which of its words ${name} runs is unclear`)
    programs.get(name)?.(invocation)
    if (isInterpreter(name)) runInterpreter(invocation)
    const outcomes = readings.flat().flatMap((layer) => {
      const inside = insideWrapper(layer, state)
      const ended =
        layer.kind === 'words' ? shell.run(layer.words, inside) : shell.script(layer.source, inside)
      return layer.certain && !layer.named ? ended : ended.map((outcome) => ({ ...outcome, ok: null }))
    })
    return apart(invocation, outcomes)
  }
  switch (name) {
    case 'fd':
    case 'fdfind': {
      const found = searchResult(shell.search([state.cwd ?? ''], fdMatcher(args)))
      fd(invocation, found)
      return [{ state, ok: null, out: `${found}\n` }]
    }
    case 'find':
    case 'gfind':
      return [{ state, ok: null, out: find(invocation) }]
    case 'awk':
    case 'gawk':
    case 'mawk':
    case 'nawk':
      judgeAwk(invocation)
      return [unknown(state)]
    case 'make':
    case 'gmake':
      runMake(invocation)
      return [unknown(state)]
    case 'crontab':
      for (const line of scheduled(invocation)) shell.script(line, { ...state, cwd: shell.world.home })
      return [unknown(state)]
    case 'gdb':
    case 'lldb':
      for (const { value } of args)
        shell.script(/^\s*(?:shell|!|platform shell)\s*(.*)$/s.exec(value)?.[1] ?? '', state)
      return [unknown(state)]
    case 'at':
    case 'batch':
      if (state.stdin !== null) shell.script(state.stdin, state)
      return [unknown(state)]
    case 'ssh': {
      const source = unwrapSsh(args)
      if (source !== null) shell.script(source, { ...state, cwd: shell.world.home })
      return [unknown(state)]
    }
    case 'docker':
    case 'podman':
    case 'nerdctl':
      runInContainer(invocation)
      return [unknown(state)]
  }
  if (isInterpreter(name)) runInterpreter(invocation)
  const program = programs.get(name)
  const script = path.includes('/') ? scriptOf(path, state, shell) : null
  if (script !== null) return apart(invocation, script(args))
  const next = program === undefined ? guessedOutput(invocation) : program(invocation)
  const out = printers.get(name)?.(invocation) ?? (silent.has(name) || printsSettings(name, args) ? '' : null)
  return [{ state: { ...(next ?? state), lastWord: args.at(-1)?.value ?? name }, ok: ends(name), out }]
}

function insideWrapper({ assignments, directory }: WrapperEffect, state: ShellState): ShellState {
  const cwd = directory === null ? null : absolutePath(directory, state.cwd)
  const moved = directory === null ? state : { ...state, cwd: cwd !== null && isKnown(cwd) ? cwd : null }
  return assignments.reduce((next, text) => {
    const at = text.indexOf('=')
    return withVariable(next, text.slice(0, at), text.slice(at + 1))
  }, moved)
}

function ends(name: string): boolean | null {
  if (name === 'true' || name === ':' || name === 'echo' || name === 'printf') return true
  return name === 'false' ? false : null
}

function unknown(state: ShellState): CommandOutcome {
  return { state, ok: null, out: null }
}

/** Another process: its variables are lost, its changes on disk stay. */
function apart({ state }: ProgramCall, outcomes: readonly CommandOutcome[]): readonly CommandOutcome[] {
  if (outcomes.length === 0) return [unknown(state)]
  return outcomes.map((outcome) => ({ ...outcome, state: leaveSubshell(state, outcome.state) }))
}

function runAlias(
  name: string,
  alias: string,
  args: readonly Arg[],
  state: ShellState,
  shell: Shell,
): readonly CommandOutcome[] {
  const aliases = new Map(state.aliases)
  aliases.delete(name)
  const rest = args.map(({ value }) => quoteWord(value)).join(' ')
  return shell
    .script(`${alias} ${rest}`, { ...state, aliases })
    .map((outcome) => ({ ...outcome, state: { ...outcome.state, aliases: state.aliases } }))
}

/** The commands of a table `crontab` reads, behind their five fields or a word such as `@daily`. */
function scheduled({ args, state }: ProgramCall): readonly string[] {
  const [file] = readOptions(args, 'u').operands
  return (textAt(file?.value ?? '-', state) ?? '')
    .split('\n')
    .map((line) => line.replace(/^\s*(?:@\w+|(?:\S+\s+){4}\S+)\s+/, ''))
}

function fdMatcher(args: readonly Arg[]): (path: string) => boolean {
  const { options } = fdParts(args)
  const matches = matcherOf(options.operands[0]?.value ?? '')
  const endings = options
    .values('e extension')
    .map(({ value }) => `.${value.replace(/^\./, '').toLowerCase()}`)
  return endings.length === 0
    ? matches
    : (path) => matches(path) && endings.some((ending) => path.toLowerCase().endsWith(ending))
}

function matcherOf(pattern: string): (path: string) => boolean {
  try {
    const regexp = new RegExp(pattern, 'i')
    return (path) => regexp.test(path.slice(path.lastIndexOf('/') + 1))
  } catch {
    return () => true
  }
}

/** `ssh localhost …` runs on this machine. Other hosts are ignored. */
function unwrapSsh(args: readonly Arg[]): string | null {
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
