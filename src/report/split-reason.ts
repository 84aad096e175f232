import { plainLine, plainText, withoutCommands } from './plain-text.ts'

/** Why a trial ended as it did: one sentence, and what stands below it, such as a diff, line by line. */
export interface SplitReason {
  readonly sentence: string
  readonly lines: readonly string[]
}

export function splitReason(reason: string): SplitReason {
  const text = plainText(reason).trim()
  // Only what an empty line sets apart is a block: a message that happens to be wrapped reads best as a sentence.
  const end = text.indexOf('\n\n')
  if (end === -1) return { sentence: plainLine(reason), lines: [] }
  const block = withoutCommands(text.slice(end + 2))
  return { sentence: plainLine(text.slice(0, end)), lines: block.split('\n').map((line) => line.trimEnd()) }
}
