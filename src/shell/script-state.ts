import { posix } from 'node:path'
import type { SimpleCommand } from './simple-command.ts'
import { isKnown } from './unknown.ts'

/** What earlier parts of a script did to the shell that runs the later ones. */
export interface ScriptState {
  /** Working directory; null when it is not known. */
  readonly directory: string | null
  readonly pipefail: boolean
  /** Why later commands may mean something else than they say; null when there is no sign of that. */
  readonly changed: string | null
}

/** What is true whichever of two ways the script took. */
export function eitherState(a: ScriptState, b: ScriptState): ScriptState {
  return {
    directory: a.directory === b.directory ? a.directory : null,
    pipefail: a.pipefail && b.pipefail,
    changed: a.changed ?? b.changed,
  }
}

/** The state after a simple command. */
export function stateAfter(command: SimpleCommand, state: ScriptState): ScriptState {
  const [name, ...args] = ownWords(command)
  const changed = (why: string): ScriptState => ({ ...state, changed: state.changed ?? why })
  if (name === undefined) {
    const steering = command.assignments.find((assignment) => !isHarmlessVariable(assignment.name))
    return steering === undefined ? state : changed(`\`${steering.name}\` is set before it`)
  }
  if (!isKnown(name)) return changed('a command before it has a name that only the shell knows')
  switch (name) {
    case 'cd':
    case 'pushd':
    case 'popd':
      return { ...state, directory: directoryAfter(name, args, state.directory) }
    case 'set':
      return (
        stateAfterSet(args, state) ?? {
          ...changed(`\`set ${args.join(' ')}\` is before it`),
          pipefail: state.pipefail || /(?:^| )-\w*o pipefail(?: |$)/.test(args.join(' ')),
        }
      )
    case 'source':
    case '.':
      return isVirtualEnvironment(args)
        ? state
        : changed('a sourced script before it can redefine the command')
    case 'export':
    case 'declare':
    case 'typeset':
    case 'local':
    case 'readonly':
    case 'unset': {
      const steering = args.find((arg) => !arg.startsWith('-') && !isHarmlessVariable(arg.split(/[=+[]/)[0]))
      return steering === undefined ? state : changed(`\`${name}\` changes its environment`)
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
    case 'alias':
    case 'unalias':
    case 'eval':
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

/** Variables that change how the output of a run looks, not what it runs. */
export function isHarmlessVariable(name: string | undefined): boolean {
  return name !== undefined && harmless.has(name)
}

const harmless = new Set([
  'CI',
  'NO_COLOR',
  'FORCE_COLOR',
  'CLICOLOR',
  'CLICOLOR_FORCE',
  'COLUMNS',
  'LINES',
  'TERM',
  'LANG',
  'LC_ALL',
  'RUST_BACKTRACE',
  'PYTHONUNBUFFERED',
  'PYTHONDONTWRITEBYTECODE',
])

function stays(args: readonly string[]): boolean {
  return args.length === 1 && /^\.\/*$/.test(args[0] ?? '')
}

/** A relative path is not followed: agents differ in whether the known directory is the one before or after the call. */
function directoryAfter(name: string, args: readonly string[], before: string | null): string | null {
  if (name !== 'cd') return null
  if (stays(args)) return before
  const [target, ...more] = args[0] === '--' ? args.slice(1) : args
  if (target === undefined || more.length > 0 || !isKnown(target) || !target.startsWith('/')) return null
  return posix.normalize(target)
}

const shellOptions = new Set(['errexit', 'nounset', 'pipefail', 'xtrace', 'verbose'])

/** null when an option is set that changes how commands run or end. */
function stateAfterSet(args: readonly string[], state: ScriptState): ScriptState | null {
  let { pipefail } = state
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? ''
    if (arg === '--') break
    if (/^[-+][euxv]*o$/.test(arg)) {
      index += 1
      const option = args[index] ?? ''
      if (!shellOptions.has(option)) return null
      if (option === 'pipefail') pipefail = arg.startsWith('-')
      if (arg.startsWith('+') && (arg.includes('e') || option === 'errexit')) return null
    } else if (!/^-[euxv]+$/.test(arg)) return null
  }
  return { ...state, pipefail }
}

function isVirtualEnvironment(args: readonly string[]): boolean {
  return args.length === 1 && /^(?:\.\/)?\.?v?env\/bin\/activate$/.test(args[0] ?? '')
}
