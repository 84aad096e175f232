import { commandLineReader } from './command-line.ts'
import type { Invocation, ToolUse } from './contract.ts'
import { recognise } from './recognise.ts'
import { type ShellReading, shellInvocations } from './shell-invocations.ts'
import { type ShellOutcome, someFailure, unknownOutcome } from './shell-outcome.ts'
import { readTarget, type Target, type TargetTool } from './target.ts'

export interface FoundInvocations {
  readonly invocations: readonly Invocation[]
  /** What a reader of the numbers should know. */
  readonly notes: readonly string[]
}

/**
 * Finds the uses of the target in the shell commands an agent ran. A command inside a loop is counted once, as it is written. A
 * command that is no valid shell is searched line by line.
 */
export async function findInvocations(uses: readonly ToolUse[], tool: TargetTool): Promise<FoundInvocations> {
  const reading = readTarget(tool)
  if (reading.kind === 'bad') return { invocations: [], notes: [reading.note] }
  const { target } = reading
  const candidates = uses.filter(({ command }) => command !== undefined && mayContain(target, command))
  if (candidates.length === 0) return { invocations: [], notes: [] }
  const { parse, forEachChild } = await import('unbash')
  const shell: ShellReading = {
    parse,
    forEachChild,
    recognise: (layers, input) => recognise(target, layers, input),
    byText: target.pattern !== null,
    readLines: (source, outcome) => byLine(source, outcome, target),
  }
  const invocations = candidates.flatMap((use) => shellInvocations(use.command ?? '', outcomeOf(use), shell))
  return { invocations, notes: [] }
}

/** Parsing costs more than looking for the name, and most commands of an agent are about something else. */
function mayContain({ pattern, name }: Target, command: string): boolean {
  return pattern !== null || command.includes(name)
}

/** An agent that only says that the tool failed does not tell with which code. */
function outcomeOf({ exitCode, isError }: ToolUse): ShellOutcome {
  if (exitCode !== undefined) return { code: exitCode, approximate: false }
  return isError === true ? someFailure : unknownOutcome
}

function byLine(command: string, { code }: ShellOutcome, target: Target): Invocation[] {
  const read = commandLineReader(target)
  const found = command.split('\n').flatMap((line) => read(line) ?? [])
  return found.map((each, index) => {
    const last = index === found.length - 1
    return { ...each, exitCode: last ? code : null, approximate: last && code !== null }
  })
}
