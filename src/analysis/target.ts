import { compilePattern, escapePattern, type Pattern } from '../core/pattern.ts'
import { quoteWord } from '../shell/quote-word.ts'
import type { Arg } from '../shell/shell-state.ts'

/** The tool under test, as a scenario names it. */
export interface TargetTool {
  /** Name or path. */
  readonly binary: string
  /** Finds invocations by their text instead of by the binary's name. Blank counts as absent. */
  readonly command_pattern?: string | undefined
}

/** One use of the target, without its exit code. */
export interface Recognised {
  readonly command: string
  readonly subcommand: string | null
  readonly help: boolean
}

export interface TargetProgram {
  readonly binary: string
  /** Last part of the binary's path. */
  readonly name: string
  readonly pattern: Pattern | null
}

/** A pattern that does not compile finds nothing, and a note reports it. */
export type TargetReading =
  | { readonly kind: 'ok'; readonly target: TargetProgram }
  | { readonly kind: 'bad'; readonly note: string }

export function readTarget({ binary, command_pattern = '' }: TargetTool): TargetReading {
  const target = { binary, name: programName(binary) }
  if (command_pattern.trim() === '') return { kind: 'ok', target: { ...target, pattern: null } }
  const compiled = compilePattern(command_pattern)
  if (compiled.kind === 'ok') return { kind: 'ok', target: { ...target, pattern: compiled.pattern } }
  return {
    kind: 'bad',
    note: `command_pattern finds nothing because it is not a valid pattern: ${compiled.message}`,
  }
}

function isTarget(target: TargetProgram, program: string): boolean {
  return program === target.binary || (target.name !== '' && programName(program) === target.name)
}

function programName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Joins continued lines. */
function foldSpace(text: string): string {
  return text.replaceAll('\\\n', '').replaceAll(/\s+/g, ' ').trim()
}

/** The first argument that is not an option. */
function subcommandOf(args: readonly string[]): string | null {
  return args.find((arg) => arg !== '' && !arg.startsWith('-')) ?? null
}

/**
 * Whether the agent asks for help: `--help` anywhere before `--`, `help` as the subcommand, or `-h` at the end. Before another
 * word, `-h` is often an option with a value (`-h localhost`).
 */
function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  const options = end === -1 ? args : args.slice(0, end)
  return options.includes('--help') || options.at(-1) === '-h' || subcommandOf(options) === 'help'
}

/**
 * Whether a simple command is a use of the target. Without a pattern its program must be the target, inside any wrappers. With a
 * pattern its text must match, unless the program only mentions things, such as `echo` or `grep`.
 */
export function recognise(
  target: TargetProgram,
  layers: readonly (readonly Arg[])[],
  input: string,
): Recognised | null {
  const { pattern } = target
  for (const words of pattern === null ? layers : layers.toReversed()) {
    const program = words[0]?.value ?? ''
    const written = words.map(({ text }) => text).join(' ')
    const match = pattern?.exec(foldSpace(written)) ?? null
    const isTheTool = isTarget(target, program)
    const isUse = isTheTool || (match !== null && !mentioning.has(programName(program)))
    if (!isUse || (pattern !== null && match === null)) continue
    const args = words.slice(1).map(({ value }) => value)
    const subcommand = pattern === null ? subcommandOf(args) : (match?.groups[0] ?? null)
    return { command: foldSpace(written + input), subcommand, help: asksForHelp(args) }
  }
  return null
}

/** A recorded call of the target, by its arguments; null when it does not match the pattern. */
export function recogniseCall(
  { binary, name, pattern }: TargetProgram,
  args: readonly string[],
): Recognised | null {
  const words = args.map(quoteWord)
  const command = foldSpace([name, ...words].join(' '))
  const help = asksForHelp(args)
  if (pattern === null) return { command, subcommand: subcommandOf(args), help }
  const match = pattern.exec(command) ?? pattern.exec(foldSpace([binary, ...words].join(' ')))
  return match === null ? null : { command, subcommand: match.groups[0] ?? null, help }
}

/** Programs whose arguments are text or file names, never a command to run. */
const mentioning = new Set(
  (
    'echo printf cat grep egrep fgrep rg ag head tail less more ls which whereis type hash man command ' +
    'chmod chown cp mv rm ln touch mkdir cd pushd test [ sed awk sort wc diff cmp stat file tee git find export alias'
  ).split(' '),
)

/** Reads one line of text as an invocation of the target; null when it is not one. */
export type LineReader = (line: string) => Recognised | null

/**
 * For text that cannot be parsed as shell: a transcript, a broken command. With a pattern the line must match it; without one it must
 * begin with the binary, after an optional prompt, and go on with a word. A line that reports the end of the tool is not a command.
 */
export function lineReader(target: TargetProgram): LineReader {
  const pattern = target.pattern ?? defaultPattern(target)
  return (line) => {
    const match = pattern.exec(line)
    if (match === null) return null
    const start = target.pattern === null ? line.indexOf(match.groups[0] ?? '', match.index) : match.index
    const command = foldSpace(line.slice(start))
    const args = command.split(' ').slice(1)
    const captured = target.pattern === null ? subcommandOf(args) : (match.groups[0] ?? null)
    if (/^(exit|error|failed)\b[:.,]?$/i.test(captured ?? args[0] ?? '')) return null
    return { command, subcommand: captured, help: asksForHelp(args) }
  }
}

function defaultPattern({ name }: TargetProgram): Pattern {
  const source = `^\\s*(?:[$>]\\s+)?((?:[^\\s]*/)?${escapePattern(name)})\\s+\\S`
  const compiled = compilePattern(source)
  if (compiled.kind === 'bad') throw new Error(`the pattern for the binary "${name}" is invalid`)
  return compiled.pattern
}
