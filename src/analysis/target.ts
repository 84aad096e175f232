import { compilePattern, type Pattern } from '../core/pattern.ts'

/** The tool under test, as a scenario names it. */
export interface TargetTool {
  /** Name or path. */
  readonly binary: string
  /** Finds invocations by their text instead of by the binary's name. Blank counts as absent. */
  readonly command_pattern?: string | undefined
}

/** A word of a command line: as it is written, and what the shell makes of its quotes. */
export interface CommandWord {
  readonly text: string
  readonly value: string
}

/** One use of the target, before anything is known about its end. */
export interface Recognised {
  readonly command: string
  readonly subcommand: string | null
  readonly help: boolean
}

export interface Target {
  readonly binary: string
  /** Last part of the binary's path. */
  readonly name: string
  readonly pattern: Pattern | null
}

/** A pattern that does not compile never crashes anything: it finds nothing, and the note says so. */
export type TargetReading =
  | { readonly kind: 'ok'; readonly target: Target }
  | { readonly kind: 'bad'; readonly note: string }

export function readTarget({ binary, command_pattern = '' }: TargetTool): TargetReading {
  const target = { binary, name: programName(binary) }
  if (command_pattern.trim() === '') return { kind: 'ok', target: { ...target, pattern: null } }
  const compiled = compilePattern(command_pattern)
  if (compiled.kind === 'ok') return { kind: 'ok', target: { ...target, pattern: compiled.pattern } }
  return { kind: 'bad', note: `command_pattern finds nothing, it is no valid pattern: ${compiled.message}` }
}

export function isTarget(target: Target, program: string): boolean {
  return program === target.binary || (target.name !== '' && programName(program) === target.name)
}

export function programName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** A line that is continued on the next one is still one line. */
export function foldSpace(text: string): string {
  return text.replaceAll('\\\n', '').replaceAll(/\s+/g, ' ').trim()
}

/** The first argument that is no option. */
export function subcommandOf(args: readonly string[]): string | null {
  return args.find((arg) => arg !== '' && !arg.startsWith('-')) ?? null
}

/**
 * Does the agent ask for help? `--help` anywhere before `--`, `help` as the subcommand, and `-h` at the end: in front of another
 * word it is as often an option with a value (`-h localhost`).
 */
export function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  const options = end === -1 ? args : args.slice(0, end)
  return options.includes('--help') || options.at(-1) === '-h' || subcommandOf(options) === 'help'
}
