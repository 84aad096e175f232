import {
  asksForHelp,
  type CommandWord,
  foldSpace,
  isTarget,
  programName,
  type Recognised,
  subcommandOf,
  type Target,
} from './target.ts'

/**
 * Is a simple command a use of the target? Without a pattern its program must be the target, inside whatever wraps it. With a
 * pattern its text must match, unless the program is one that only mentions things, such as `echo` or `grep`.
 */
export function recognise(
  target: Target,
  layers: readonly (readonly CommandWord[])[],
  input: string,
): Recognised | null {
  return target.pattern === null
    ? byProgram(target, layers, input)
    : byPattern(target, target.pattern, layers, input)
}

function byProgram(
  target: Target,
  layers: readonly (readonly CommandWord[])[],
  input: string,
): Recognised | null {
  const words = layers.find(([program]) => program !== undefined && isTarget(target, program.value))
  if (words === undefined) return null
  const args = words.slice(1).map(({ value }) => value)
  return { command: textOf(words, input), subcommand: subcommandOf(args), help: asksForHelp(args) }
}

function byPattern(
  target: Target,
  pattern: NonNullable<Target['pattern']>,
  layers: readonly (readonly CommandWord[])[],
  input: string,
): Recognised | null {
  for (const words of layers.toReversed()) {
    const program = words[0]?.value ?? ''
    if (mentioning.has(programName(program)) && !isTarget(target, program)) continue
    const match = pattern.exec(foldSpace(words.map(({ text }) => text).join(' ')))
    if (match === null) continue
    const args = words.slice(1).map(({ value }) => value)
    return { command: textOf(words, input), subcommand: match.groups[0] ?? null, help: asksForHelp(args) }
  }
  return null
}

function textOf(words: readonly CommandWord[], input: string): string {
  return foldSpace(words.map(({ text }) => text).join(' ') + input)
}

/** Programs whose arguments are text or names of files, never a command to run. */
const mentioning = new Set(
  (
    'echo printf cat grep egrep fgrep rg ag head tail less more ls which whereis type hash man command ' +
    'chmod chown cp mv rm ln touch mkdir cd pushd test [ sed awk sort wc diff cmp stat file tee git find export alias'
  ).split(' '),
)
