import { stripVTControlCharacters } from 'node:util'
import type { Command, Redirection } from 'unbash'
import type { ExitStatus } from '../shell/exit-status.ts'
import type { Arg } from '../shell/shell-state.ts'
import type { CommandReading, ScriptItem } from '../shell/walk-script.ts'
import type { TargetCall, TargetInvocation, ToolUse } from './contract.ts'
import {
  lineReader,
  type Recognised,
  readTarget,
  recognise,
  recogniseCall,
  type TargetProgram,
  type TargetTool,
} from './target.ts'

export interface FoundInvocations {
  readonly invocations: readonly TargetInvocation[]
  /** Notes for readers of the numbers. */
  readonly notes: readonly string[]
}

/**
 * Finds the uses of the target in the shell commands that an agent ran, in the order they are written. A command inside a loop is
 * counted once. A command that is not valid shell is searched line by line.
 *
 * Each use has the exit code that is certain from the end of its call, with one exception that is marked approximate: a failing
 * `&&` chain is blamed on the last use in it.
 */
export async function findInvocations(uses: readonly ToolUse[], tool: TargetTool): Promise<FoundInvocations> {
  const reading = readTarget(tool)
  if (reading.kind === 'bad') return { invocations: [], notes: [reading.note] }
  const { target } = reading
  const candidates = uses.filter(({ command }) => command !== undefined && mayContain(target, command))
  if (candidates.length === 0) return { invocations: [], notes: [] }
  const find = await loadFinder(target)
  return { invocations: candidates.flatMap((use) => find(use.command ?? '', exitOf(use))), notes: [] }
}

/**
 * The uses of the target from recorded calls. `reported`, the uses in the commands of the agent, adds what a record does not have:
 * calls by another path, for which `isElsewhere` is true, and the input of a command (`tool add <<EOF`), where both lists agree.
 */
export function recordedInvocations(
  calls: readonly TargetCall[],
  tool: TargetTool,
  reported: readonly TargetInvocation[],
  isElsewhere: (program: string) => boolean,
): readonly TargetInvocation[] {
  const reading = readTarget(tool)
  if (reading.kind === 'bad') return []
  const found = calls.flatMap(({ args, exitCode }): TargetInvocation[] => {
    const use = recogniseCall(reading.target, args)
    return use === null ? [] : [{ ...use, exitCode, approximate: false }]
  })
  if (found.length === 0) return []
  const elsewhere = reported.filter(({ command }) => isElsewhere(firstWord(command)))
  const here = reported.filter((use) => !elsewhere.includes(use))
  const agree =
    here.length === found.length && here.every(({ subcommand }, at) => subcommand === found[at]?.subcommand)
  const uses = agree ? found.map((use, at) => ({ ...use, command: here[at]?.command ?? use.command })) : found
  return [...uses, ...elsewhere]
}

function firstWord(command: string): string {
  return /^(?:"([^"]*)"|'([^']*)'|(\S*))/.exec(command)?.slice(1).find(Boolean) ?? ''
}

/** Parsing costs more than searching for the name, and most commands of an agent do not use the target. */
function mayContain({ pattern, name }: TargetProgram, command: string): boolean {
  return pattern !== null || command.includes(name)
}

/** Some agents report that the tool failed, but not its exit code. */
function exitOf({ exitCode, isError }: ToolUse): ExitStatus {
  if (exitCode !== undefined) return { code: exitCode, approximate: false }
  return isError === true ? { code: 1, approximate: true } : { code: null, approximate: false }
}

/** Loads the shell parser only when needed. */
async function loadFinder(
  target: TargetProgram,
): Promise<(source: string, whole: ExitStatus) => TargetInvocation[]> {
  const [{ parse }, { exitInside, unknownExit }, { unwrapCommand }, { walkScript }] = await Promise.all([
    import('unbash'),
    import('../shell/exit-status.ts'),
    import('../shell/unwrap-command.ts'),
    import('../shell/walk-script.ts'),
  ])
  const readLine = lineReader(target)
  return (source, whole) =>
    findIn(source, whole).map(({ item, exit }) => ({
      ...item,
      exitCode: exit.code,
      approximate: exit.approximate,
    }))

  function findIn(source: string, whole: ExitStatus): readonly ScriptItem<Recognised>[] {
    const script = parse(source)
    if (hasErrors(script)) return byLine(source, whole)
    const variables = new Map<string, string>()
    const start = { directory: null, pipefail: false, changed: null }
    const command = (node: Command, _: unknown, exit: ExitStatus): CommandReading<Recognised> =>
      readCommand(node, exit, variables)
    return walkScript(script, start, { substitutions: true, command }, whole).found
  }

  function readCommand(
    node: Command,
    outer: ExitStatus,
    variables: Map<string, string>,
  ): CommandReading<Recognised> {
    if (node.name === undefined) {
      rememberVariables(node, variables)
      return { found: [], isOther: true }
    }
    const { layers, script, readsInput, exit: relation } = unwrapCommand(wordsOf(node, variables))
    const exit = exitInside(outer, relation)
    const source = script?.source ?? (readsInput ? hereDocument(node.redirects) : null)
    // The text of a wrapped script contains the commands that are found inside it.
    const isInside = source !== null && target.pattern !== null
    const use = isInside ? null : recognise(target, layers, inputOf(node.redirects))
    if (use !== null) return { found: [{ item: use, doubt: null, exit }], isOther: false }
    if (source === null) return { found: [], isOther: true }
    const parsed = parse(source)
    if (hasErrors(parsed)) return { found: byLine(source, exit), isOther: true }
    return { found: [], isOther: true, script: { parsed, pipefail: script?.pipefail ?? false, exit } }
  }

  function byLine(source: string, { code }: ExitStatus): readonly ScriptItem<Recognised>[] {
    const uses = source.split('\n').flatMap((line) => readLine(line) ?? [])
    return uses.map((item, index) => {
      const isLast = index === uses.length - 1
      return { item, doubt: null, exit: isLast ? { code, approximate: code !== null } : unknownExit }
    })
  }
}

function hasErrors({ errors }: { readonly errors?: readonly unknown[] | undefined }): boolean {
  return errors !== undefined && errors.length > 0
}

/** `T=./tool; $T add`: only literal values. */
function rememberVariables({ prefix }: Command, variables: Map<string, string>): void {
  for (const each of prefix) {
    if (each.type !== 'Assignment') continue
    const { name, value, append, index } = each
    const isPlain = value.type === 'Word' && (value.parts ?? []).every(({ type }) => plainParts.has(type))
    if (isPlain && append !== true && index === undefined) variables.set(name, value.value)
    else variables.delete(name)
  }
}

const plainParts = new Set(['Literal', 'SingleQuoted', 'AnsiCQuoted'])

function wordsOf({ name, args }: Command, variables: ReadonlyMap<string, string>): readonly Arg[] {
  const variable = /^"?\$(?:(\w+)|\{(\w+)\})"?$/.exec(name?.text ?? '')
  const program = variables.get(variable?.[1] ?? variable?.[2] ?? '')
  const first =
    program === undefined
      ? [{ text: name?.text ?? '', value: name?.value ?? '' }]
      : program
          .split(/\s+/)
          .filter((part) => part !== '')
          .map((part) => ({ text: part, value: part }))
  const rest = args.map(({ text, value }) => ({ text, value: typeof value === 'string' ? value : text }))
  return [...first, ...rest]
}

/** The input of a command is part of its identity; its output is not. */
function inputOf(redirects: readonly Redirection[]): string {
  return redirects.map(inputText).join('')
}

function inputText(redirect: Redirection): string {
  switch (redirect.type) {
    case 'HereDoc':
      return ` ${redirect.operator}${redirect.delimiter?.text ?? ''} ${redirect.body.text}`
    case 'HereString':
      return ` <<< ${redirect.target?.text ?? ''}`
    case 'Redirect':
      return redirect.operator === '<' ? ` < ${redirect.target?.text ?? ''}` : ''
  }
}

/** `bash <<EOF` runs the document. */
function hereDocument(redirects: readonly Redirection[]): string | null {
  const document = redirects.find((redirect) => redirect.type === 'HereDoc')
  return document === undefined ? null : document.body.text
}

/**
 * Guesses the uses of the target from the text of a transcript, for agents that report no tool calls. An exit code is only taken
 * from a phrase such as "exit code 2" between a command and the next one; otherwise it is unknown.
 */
export function findTranscriptInvocations(transcript: string, tool: TargetTool): FoundInvocations {
  const reading = readTarget(tool)
  if (reading.kind === 'bad') return { invocations: [], notes: [reading.note] }
  const read = lineReader(reading.target)
  const invocations: TargetInvocation[] = []
  for (const line of stripVTControlCharacters(transcript).split(/\r\n|\n|\r/)) {
    const found = read(line)
    if (found !== null) {
      invocations.push({ ...found, exitCode: null, approximate: false })
      continue
    }
    const last = invocations.at(-1)
    if (last === undefined || last.exitCode !== null) continue
    const exitCode = exitCodeIn(line)
    if (exitCode !== null) invocations[invocations.length - 1] = { ...last, exitCode, approximate: true }
  }
  return { invocations, notes: [] }
}

function exitCodeIn(line: string): number | null {
  const phrase = /\bexit(?:ed with)? (?:code|status)(?: is| was)?[ :=]{1,3}(-?\d{1,10})\b/i.exec(line)
  return phrase === null ? null : Number(phrase[1])
}
