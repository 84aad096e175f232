import { stripVTControlCharacters } from 'node:util'
import type { TargetInvocation } from './contract.ts'
import type { FoundInvocations } from './invocations.ts'
import { lineReader, readTarget, type TargetTool } from './target.ts'

/**
 * Guesses the uses of the target from the text of a transcript, for agents that report no tool calls. An exit code comes only from a
 * phrase such as "exit code 2" between a command and the next one; otherwise it is unknown.
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
