import { compilePattern, escapePattern, type Pattern } from '../core/pattern.ts'
import { asksForHelp, foldSpace, type Recognised, subcommandOf, type Target } from './target.ts'

/** Reads one line of text as an invocation of the target; null when it is none. */
export type CommandLineReader = (line: string) => Recognised | null

/**
 * For text that is no parsable shell: a transcript, a broken command. With a pattern the line must match it; without one it must begin with the
 * binary, after an optional prompt, and go on with a word. A line on which the tool reports its own end is no command.
 */
export function commandLineReader(target: Target): CommandLineReader {
  const pattern = target.pattern ?? defaultPattern(target)
  return (line) => {
    const match = pattern.exec(line)
    if (match === null) return null
    const start = target.pattern === null ? line.indexOf(match.groups[0] ?? '', match.index) : match.index
    const command = foldSpace(line.slice(start))
    const args = command.split(' ').slice(1)
    const captured = target.pattern === null ? subcommandOf(args) : (match.groups[0] ?? null)
    if (isStatus(captured ?? args[0] ?? '')) return null
    return { command, subcommand: captured, help: asksForHelp(args) }
  }
}

function defaultPattern({ name }: Target): Pattern {
  const source = `^\\s*(?:[$>]\\s+)?((?:[^\\s]*/)?${escapePattern(name)})\\s+\\S`
  const compiled = compilePattern(source)
  if (compiled.kind === 'bad') throw new Error(`the pattern for the binary "${name}" is invalid`)
  return compiled.pattern
}

function isStatus(word: string): boolean {
  return /^(exit|error|failed)\b[:.,]?$/i.test(word)
}
