import type { CommandOutcome, CreatedFiles, ShellState, ShellValue } from './shell-state.ts'
import { unknownPart } from './unknown-part.ts'
import type { World } from './world.ts'

export function initialState(cwd: string): ShellState {
  return {
    cwd,
    variables: new Map(),
    functions: new Map(),
    aliases: new Map(),
    parameters: [],
    options: new Set(),
    stdin: null,
    descriptors: new Map(),
    made: { links: new Map(), files: new Map(), directories: new Set() },
    lastWord: '',
    ended: false,
  }
}

export function withVariable(state: ShellState, name: string, value: ShellValue): ShellState {
  if (state.variables.get(name) === value) return state
  return { ...state, variables: new Map(state.variables).set(name, value) }
}

/** undefined: neither the command nor the environment sets it. */
export function variable(state: ShellState, name: string, world: World): ShellValue | undefined {
  const own = state.variables.get(name)
  const other = state.variables.get(referenceTo(name))
  if (typeof other === 'string' && other !== name)
    return variable({ ...state, variables: without(state.variables, name) }, other, world)
  if (own !== undefined) return own
  switch (name) {
    case 'PWD':
      return state.cwd ?? unknownPart
    case 'HOME':
      return world.home
    case 'IFS':
      return ' \t\n'
    case 'OLDPWD':
    case 'RANDOM':
    case 'SECONDS':
    case 'REPLY':
      return unknownPart
  }
  return Object.hasOwn(world.env, name) ? world.env[name] : undefined
}

/** The key under which a reference to another variable is kept, as `declare -n` makes it. */
export function referenceTo(name: string): string {
  return `&${name}`
}

/** Ends the lookup when two variables refer to each other. */
function without(variables: ShellState['variables'], name: string): ShellState['variables'] {
  const rest = new Map(variables)
  rest.delete(referenceTo(name))
  return rest
}

export function withMade(state: ShellState, made: Partial<CreatedFiles>): ShellState {
  return { ...state, made: { ...state.made, ...made } }
}

export function withFile(state: ShellState, path: string, content: string | null): ShellState {
  const kept = content === null || content.length > maxContent ? undefined : content
  if (state.made.files.get(path) === kept) return state
  const files = new Map(state.made.files)
  if (kept === undefined) files.delete(path)
  else files.set(path, kept)
  return withMade(state, { files })
}

/** After a subshell: only what it did to the disk stays. */
export function leaveSubshell(outer: ShellState, inner: ShellState): ShellState {
  return outer.made === inner.made ? outer : { ...outer, made: inner.made }
}

/** Merges paths that differ only in their exit or in the files they created. */
export function distinct(outcomes: readonly CommandOutcome[]): readonly CommandOutcome[] {
  if (outcomes.length < 2) return outcomes
  const kept: CommandOutcome[] = []
  for (const outcome of outcomes) {
    const at = kept.findIndex((other) => alike(other, outcome))
    const other = kept[at]
    if (other === undefined) kept.push(outcome)
    else kept[at] = merged(other, outcome)
  }
  return kept
}

/** What every way prints; null when they differ. */
export function outputOf(outcomes: readonly CommandOutcome[]): string | null {
  const [first] = outcomes
  return first !== undefined && outcomes.every(({ out }) => out === first.out) ? first.out : null
}

/** How a command ended no longer matters: one way for each state. */
export function onlyStates(outcomes: readonly CommandOutcome[]): readonly CommandOutcome[] {
  if (outcomes.length < 2) return outcomes
  const out = outputOf(outcomes)
  return distinct(outcomes.map(({ state }) => ({ state, ok: null, out })))
}

function merged(a: CommandOutcome, b: CommandOutcome): CommandOutcome {
  const ok = a.ok === b.ok ? a.ok : null
  if (a.state.made === b.state.made) return ok === a.ok ? a : { ...a, ok }
  return { ...a, ok, state: { ...a.state, made: together(a.state.made, b.state.made) } }
}

function alike(a: CommandOutcome, b: CommandOutcome): boolean {
  if (a.out !== b.out) return false
  return (
    a.state === b.state ||
    (stateKeys.every((key) => a.state[key] === b.state[key]) &&
      sameVariables(a.state.variables, b.state.variables))
  )
}

function together(a: CreatedFiles, b: CreatedFiles): CreatedFiles {
  const files = new Map(a.files)
  for (const [path, content] of b.files) {
    const other = files.get(path)
    files.set(path, other === undefined || other === content ? content : `${other}\n${content}`)
  }
  return {
    links: new Map([...a.links, ...b.links]),
    files,
    directories: new Set([...a.directories, ...b.directories]),
  }
}

const stateKeys = [
  'cwd',
  'functions',
  'aliases',
  'parameters',
  'options',
  'stdin',
  'descriptors',
  'ended',
] as const

function sameVariables(a: ShellState['variables'], b: ShellState['variables']): boolean {
  if (a === b) return true
  if (a.size !== b.size) return false
  for (const [name, value] of a) if (b.get(name) !== value) return false
  return true
}

const maxContent = 65_536
