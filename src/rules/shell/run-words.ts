import { absolutePath, leadsTo } from './absolute-path.ts'
import { builtins, printInto } from './builtins.ts'
import { isInterpreter, runInterpreter } from './code/interpreters.ts'
import { judgeAwk } from './code/judge-awk.ts'
import { fd, fdPattern, parallel, xargs } from './feed.ts'
import type { Arg, Invocation, Outcome, Shell, ShellState } from './interpreter.ts'
import { readOptions } from './options.ts'
import { printers, silent } from './printers.ts'
import { find } from './programs/find.ts'
import { programs } from './programs/index.ts'
import { guessedOutput } from './programs/outputs.ts'
import { runShell, runSource, scriptOf, shells } from './run-shell.ts'
import { leaveSubshell } from './state.ts'
import { isKnown, searchResult } from './unknown.ts'
import { unwrap, unwrapSsh } from './unwrap.ts'

/** One command whose words are known as far as they can be. */
export function runWords(words: readonly Arg[], state: ShellState, shell: Shell): readonly Outcome[] {
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
    : first.value
  const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.exe$/i, '')
  return runProgram({ name, args, state, shell }, path)
}

function runProgram(invocation: Invocation, path: string): readonly Outcome[] {
  const { name, args, state, shell } = invocation
  const builtin = builtins.get(name)
  if (builtin !== undefined) return builtin(invocation)
  if (name === 'printf') {
    const next = printInto(invocation)
    if (next !== null) return [{ state: next, ok: true, out: '' }]
  }
  if (name === 'source' || name === '.') return runSource(invocation)
  if (shells.has(name)) return apart(invocation, runShell(invocation))
  const layers = unwrap(name, args, state)
  if (layers !== null) {
    programs.get(name)?.(invocation)
    const outcomes = layers.flatMap((layer) =>
      layer.kind === 'words' ? shell.run(layer.words, layer.state) : shell.script(layer.source, layer.state),
    )
    return apart(invocation, outcomes)
  }
  switch (name) {
    case 'xargs':
    case 'gxargs':
      xargs(invocation)
      return [unknown(state)]
    case 'parallel':
      parallel(invocation)
      return [unknown(state)]
    case 'fd':
    case 'fdfind': {
      const found = searchResult(shell.search([state.cwd ?? ''], matcherOf(fdPattern(args))))
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
      lookIntoMakefile(invocation)
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
  const out = printers.get(name)?.(invocation) ?? (silent.has(name) ? '' : null)
  return [{ state: { ...(next ?? state), lastWord: args.at(-1)?.value ?? name }, ok: ends(name), out }]
}

function ends(name: string): boolean | null {
  if (/^(?:true|:|echo|printf)$/.test(name)) return true
  return name === 'false' ? false : null
}

function unknown(state: ShellState): Outcome {
  return { state, ok: null, out: null }
}

/** Another process: what it sets is gone with it, what it did to the disk is not. */
function apart({ state }: Invocation, outcomes: readonly Outcome[]): readonly Outcome[] {
  if (outcomes.length === 0) return [unknown(state)]
  return outcomes.map((outcome) => ({ ...outcome, state: leaveSubshell(state, outcome.state) }))
}

function runAlias(
  name: string,
  alias: string,
  args: readonly Arg[],
  state: ShellState,
  shell: Shell,
): readonly Outcome[] {
  const aliases = new Map(state.aliases)
  aliases.delete(name)
  const rest = args.map(({ value }) => `'${value.replaceAll("'", "'\\''")}'`).join(' ')
  return shell
    .script(`${alias} ${rest}`, { ...state, aliases })
    .map((outcome) => ({ ...outcome, state: { ...outcome.state, aliases: state.aliases } }))
}

/** A container sees the disk when a directory is mounted in it; where, is not known. */
function runInContainer({ args, state, shell }: Invocation): void {
  const mounts = args.some(({ value }) => /^(?:-v|--volume|--mount|compose|exec)/.test(value))
  const at = args.findIndex(
    ({ value }, index) =>
      shells.has(value.replace(/^.*\//, '')) && /^-\w*c$/.test(args[index + 1]?.value ?? ''),
  )
  const script = args[at + 2]
  if (mounts && at !== -1 && script !== undefined) shell.script(script.value, { ...state, cwd: null })
}

/** A makefile is out of sight, unless it comes with the command. */
function lookIntoMakefile({ args, state, shell }: Invocation): void {
  const { values } = readOptions(args, [
    'f',
    'file',
    'makefile',
    'eval',
    'C',
    'directory',
    'j',
    'o',
    'W',
    'I',
  ])
  for (const { value } of values('eval')) shell.opaque(value, 'make runs rules that come with the command')
  for (const { value } of values('f', 'file', 'makefile')) {
    const text =
      value === '-' || value === '/dev/stdin'
        ? state.stdin
        : state.made.files.get(absolutePath(value, state.cwd))
    if (text !== null && text !== undefined) shell.opaque(text, 'make runs rules that come with the command')
  }
}

function matcherOf(pattern: string): (path: string) => boolean {
  try {
    const regexp = new RegExp(pattern, 'i')
    return (path) => regexp.test(path.slice(path.lastIndexOf('/') + 1))
  } catch {
    return () => true
  }
}
