import { z } from 'zod'
import { GantryError } from '../core/error.ts'
import { appendOnce } from '../io/append-log.ts'
import { readTextIfExists } from '../io/directory.ts'

/** What a person said about the result of a trial. One line of labels.jsonl. */
export const labelSchema = z.strictObject({
  content: z
    .string()
    .regex(/^[0-9a-f]{16}$/)
    .describe(
      'Hash of the case, the final message and the changed files: another run with the same result has it too.',
    ),
  case: z.string(),
  label: z.enum(['pass', 'fail']),
  note: z.string().optional(),
  run: z.string().optional(),
  trial: z.string().optional(),
  judge: z
    .strictObject({ model: z.string(), passed: z.boolean(), score: z.number() })
    .optional()
    .describe('What the judge had said when the label was given.'),
  at: z.string().describe('When the label was given.'),
})

export type Label = z.output<typeof labelSchema>

/** In the directory of gantry.yaml. */
export const labelsFile = 'labels.jsonl'

/** The last label of each content. Throws GantryError INVALID_FILE for a line that is not a label. */
export function readLabels(path: string): ReadonlyMap<string, Label> {
  const labels = new Map<string, Label>()
  for (const [index, line] of (readTextIfExists(path) ?? '').split('\n').entries()) {
    if (line.trim() === '') continue
    const label = labelOf(line)
    if (typeof label === 'string')
      throw new GantryError('INVALID_FILE', `${path}:${index + 1}: ${label}`, {
        at: { file: path, line: index + 1 },
        hint: 'Labels are written by "gantry label". Remove the line if it is not one.',
      })
    labels.delete(label.content)
    labels.set(label.content, label)
  }
  return labels
}

export function appendLabels(path: string, labels: readonly Label[]): void {
  appendOnce(path, labels.map((label) => `${JSON.stringify(label)}\n`).join(''))
}

function labelOf(line: string): Label | string {
  try {
    const parsed = labelSchema.safeParse(JSON.parse(line))
    if (parsed.success) return parsed.data
    const [issue] = parsed.error.issues
    return `not a label: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`
  } catch {
    return 'not a line of JSON'
  }
}
