import { absolutePath } from './absolute-path.ts'
import { runIndexes } from './expand-parameter.ts'
import { readOptions } from './options.ts'
import { formatted } from './printers.ts'
import type { CommandOutcome, ProgramCall, ShellState } from './shell-state.ts'
import { referenceTo, withVariable } from './state.ts'
import { isKnown, unknownPart } from './unknown-part.ts'

type Builtin = (invocation: ProgramCall) => readonly CommandOutcome[]

/** Shell builtins that change the meaning of later commands. */
export const builtins: ReadonlyMap<string, Builtin> = new Map<string, Builtin>([
  ['cd', changeDirectory],
  ['chdir', changeDirectory],
  ['pushd', changeDirectory],
  ['popd', ({ state }) => [fine({ ...state, cwd: null })]],
  ['export', declare],
  ['declare', declare],
  ['typeset', declare],
  ['local', declare],
  ['readonly', declare],
  ['unset', unset],
  ['alias', alias],
  ['eval', ({ args, state, shell }) => shell.script(args.map(({ value }) => value).join(' '), state)],
  ['read', read],
  ['mapfile', readAll],
  ['readarray', readAll],
  ['set', setParameters],
  [
    'shift',
    ({ args, state }) => [
      fine({ ...state, parameters: state.parameters.slice(Number(args[0]?.value ?? 1) || 1) }),
    ],
  ],
  ['shopt', setOptions],
  ['setopt', setOptions],
  ['trap', trap],
  ['exit', leave],
  ['let', evaluated],
  ['hash', hashed],
])

function fine(state: ShellState, out: string | null = ''): CommandOutcome {
  return { state, ok: true, out }
}

function changeDirectory({ args, state, shell }: ProgramCall): readonly CommandOutcome[] {
  const { operands } = readOptions(args)
  const target = operands[0]?.value ?? shell.world.home
  const back = state.variables.get('OLDPWD')
  const to =
    target === '-' || args.some(({ value }) => value === '-')
      ? typeof back === 'string'
        ? back
        : unknownPart
      : target
  const path = absolutePath(to, state.cwd)
  if (!isKnown(path)) return [fine({ ...state, cwd: null }), { state, ok: false, out: '' }]
  const resolved = shell.world.resolve(path)
  const real = resolved.kind === 'directory' && /(?:^|\/)\.\.(?:\/|$)/.test(path) ? resolved.real : path
  const there = { ...withVariable(state, 'OLDPWD', state.cwd ?? unknownPart), cwd: real }
  const sure = resolved.kind === 'directory' || state.made.directories.has(path)
  const elsewhere = searched(to, state).map((cwd) => fine({ ...there, cwd }))
  return sure && elsewhere.length === 0
    ? [fine(there)]
    : [fine(there), ...elsewhere, ...(sure ? [] : [{ state, ok: false, out: '' }])]
}

/** Further directories from `CDPATH`. */
function searched(target: string, state: ShellState): readonly string[] {
  const path = state.variables.get('CDPATH')
  if (typeof path !== 'string' || !isKnown(path) || /^\.{0,2}(?:\/|$)/.test(target)) return []
  return path
    .split(':')
    .filter((place) => place !== '' && place !== '.')
    .slice(0, 4)
    .map((place) => absolutePath(target, absolutePath(place, state.cwd)))
}

function declare({ args, state, shell }: ProgramCall): readonly CommandOutcome[] {
  for (const { value } of args) runIndexes(value, state, shell)
  let next = state
  const refers = args.some(({ value }) => /^-\w*n/.test(value))
  for (const { value } of args) {
    const [, name, text] = /^(\w+)\+?=(.*)$/s.exec(value) ?? []
    if (name !== undefined && text !== undefined)
      next = withVariable(next, refers ? referenceTo(name) : name, text)
  }
  return [fine(next)]
}

function unset({ args, state, shell }: ProgramCall): readonly CommandOutcome[] {
  for (const { value } of args) runIndexes(value, state, shell)
  const variables = new Map(state.variables)
  const functions = new Map(state.functions)
  for (const { value } of args) {
    // Unset counts as empty, regardless of the environment.
    variables.set(value, '')
    functions.delete(value)
  }
  return [fine({ ...state, variables, functions })]
}

function alias({ args, state }: ProgramCall): readonly CommandOutcome[] {
  const aliases = new Map(state.aliases)
  for (const { value } of args) {
    const [, name, text] = /^([^=]+)=(.*)$/s.exec(value) ?? []
    if (name !== undefined && text !== undefined) aliases.set(name, text)
  }
  return [fine({ ...state, aliases })]
}

function read({ args, state, shell }: ProgramCall): readonly CommandOutcome[] {
  for (const { value } of args) runIndexes(value, state, shell)
  const options = readOptions(args, 'a d i n N p t u')
  const names = options.operands.map(({ value }) => value)
  const { stdin } = state
  const end = stdin?.indexOf('\n') ?? -1
  const line = stdin === null ? unknownPart : end === -1 ? stdin : stdin.slice(0, end)
  const rest = stdin === null ? null : end === -1 ? '' : stdin.slice(end + 1)
  let next: ShellState = { ...state, stdin: rest }
  const [list] = options.values('a')
  const separators = state.variables.get('IFS')
  const words =
    stdin === null ? [unknownPart] : splitLine(line, typeof separators === 'string' ? separators : ' \t\n')
  if (list !== undefined) return [fine(withVariable(next, list.value, words))]
  const targets = names.length === 0 ? ['REPLY'] : names
  for (const [index, name] of targets.entries()) {
    const last = index === targets.length - 1
    const value =
      stdin === null
        ? unknownPart
        : targets.length === 1
          ? line.trim()
          : last
            ? words.slice(index).join(' ')
            : (words[index] ?? '')
    next = withVariable(next, name, value)
  }
  return [{ state: next, ok: stdin === '' ? false : null, out: '' }]
}

function splitLine(line: string, separators: string): string[] {
  const words = ['']
  for (const char of line)
    if (separators.includes(char)) words.push('')
    else words[words.length - 1] += char
  return words.filter((word) => word !== '')
}

function readAll({ args, state }: ProgramCall): readonly CommandOutcome[] {
  const { operands } = readOptions(args, 'd n O s u C c')
  const values = state.stdin === null ? [unknownPart] : state.stdin.split('\n').filter((line) => line !== '')
  return [fine(withVariable(state, operands[0]?.value ?? 'MAPFILE', values))]
}

function setParameters({ args, state }: ProgramCall): readonly CommandOutcome[] {
  const at = args.findIndex(({ value }) => value === '--')
  const plain = args.length > 0 && args.every(({ value }) => !/^[-+]/.test(value))
  if (at === -1 && !plain) return [fine(state)]
  const words = args.slice(plain ? 0 : at + 1).map(({ value }) => value)
  return [fine({ ...state, parameters: words })]
}

function setOptions({ args, state, name }: ProgramCall): readonly CommandOutcome[] {
  const off = args.some(({ value }) => value === '-u')
  const options = new Set(state.options)
  for (const { value } of args) {
    const option = value.toLowerCase().replaceAll('_', '')
    const own = option === 'globdots' ? 'dotglob' : option
    if (off) options.delete(own)
    else if (name === 'setopt' || args.some((arg) => arg.value === '-s')) options.add(own)
  }
  return [fine({ ...state, options })]
}

/** Runs sooner or later. */
function trap({ args, state, shell }: ProgramCall): readonly CommandOutcome[] {
  const { operands } = readOptions(args)
  const [action] = operands
  if (action !== undefined && operands.length > 1 && action.value !== '') shell.script(action.value, state)
  return [fine(state)]
}

function leave({ args, state }: ProgramCall): readonly CommandOutcome[] {
  return [{ state: args.length > 1 ? state : { ...state, ended: true }, ok: null, out: '' }]
}

function evaluated({ args, state, shell }: ProgramCall): readonly CommandOutcome[] {
  for (const { value } of args) runIndexes(value, state, shell)
  return [{ state, ok: null, out: '' }]
}

/** `hash -p /bin/rm ls`: from now on the name means that program. */
function hashed({ args, state }: ProgramCall): readonly CommandOutcome[] {
  const { values, operands } = readOptions(args, 'p')
  const [program] = values('p')
  if (program === undefined) return [fine(state)]
  const aliases = new Map(state.aliases)
  for (const { value } of operands) aliases.set(value, program.value)
  return [fine({ ...state, aliases })]
}

/** `printf -v name …` puts the text into a variable. */
export function printInto({ args, state, shell }: ProgramCall): ShellState | null {
  if (args[0]?.value !== '-v' || args[1] === undefined) return null
  runIndexes(args[1].value, state, shell)
  return withVariable(
    state,
    args[1].value.replace(/\[.*$/, ''),
    formatted(args.slice(2).map(({ value }) => value)) ?? unknownPart,
  )
}
