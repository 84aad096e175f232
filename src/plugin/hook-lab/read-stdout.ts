import { z } from 'zod'
import { shorten } from '../../core/shorten.ts'
import { hookEvents } from '../analyze/hooks/hook-events.ts'
import { plainTextOf } from './event-effects.ts'
import type { LabFinding } from './finding-log.ts'

export interface Stdout {
  readonly answer: JsonAnswer | null
  /** Treated as plain text: not JSON, or invalid JSON. JSON with wrong fields is dropped entirely. */
  readonly isText: boolean
  readonly noticed: readonly LabFinding[]
}

/** Only a text that is exactly one JSON object is an answer. */
export function readStdout(stdout: string, event: string): Stdout {
  const text = stdout.trim()
  if (text === '') return { answer: null, isText: true, noticed: [] }
  if (!text.startsWith('{')) return { answer: null, isText: true, noticed: chatter(text, event) }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    const code = startsWithObject(text) ? 'HOOK_TEXT_AROUND_JSON' : 'HOOK_BROKEN_JSON'
    return { answer: null, isText: true, noticed: [{ code, detail: `stdout is ${shown(text)}` }] }
  }
  const isSpecific = typeof value === 'object' && value !== null && 'hookSpecificOutput' in value
  if (isSpecific && (hookEvents.get(event)?.output ?? null) === null) {
    const code = event === 'PreCompact' ? 'HOOK_PRECOMPACT_CONTEXT' : 'HOOK_OUTPUT_NOT_ALLOWED'
    return dropped({ code, detail: `${event} does not support hookSpecificOutput` })
  }
  const { data: answer, error } = answerSchema.safeParse(value)
  if (answer === undefined) return dropped({ code: 'HOOK_OUTPUT_INVALID', detail: issueLine(error) })
  const named = answer.hookSpecificOutput?.hookEventName ?? event
  if (named !== event)
    return dropped({
      code: 'HOOK_WRONG_EVENT_NAME',
      detail: `hookEventName is ${named}, the event is ${event}`,
    })
  const own = outputSchema(event).safeParse(answer.hookSpecificOutput ?? {})
  if (!own.success)
    return dropped({ code: 'HOOK_OUTPUT_INVALID', detail: `hookSpecificOutput.${issueLine(own.error)}` })
  // Before a compaction even valid JSON is passed to the summariser unchanged, unless it blocks.
  if (plainTextOf(event) !== 'summary' || answer.decision === 'block')
    return { answer, isText: false, noticed: [] }
  const detail = `stdout is ${shown(text)}`
  return { answer: null, isText: true, noticed: [{ code: 'HOOK_PRECOMPACT_STDOUT', detail }] }
}

function dropped(noticed: LabFinding): Stdout {
  return { answer: null, isText: false, noticed: [noticed] }
}

function chatter(text: string, event: string): readonly LabFinding[] {
  const detail = `stdout is ${shown(text)}`
  if (/\{\s*"(?:hookSpecificOutput|decision|continue|systemMessage)"/.test(text))
    return [{ code: 'HOOK_TEXT_AROUND_JSON', detail }]
  const use = plainTextOf(event)
  if (use === 'summary') return [{ code: 'HOOK_PRECOMPACT_STDOUT', detail }]
  return use === 'unused' ? [{ code: 'HOOK_STDOUT_UNUSED', detail }] : []
}

/** Whether the text is a complete JSON object followed by something else. */
function startsWithObject(text: string): boolean {
  for (
    let end = text.indexOf('}'), tries = 0;
    end !== -1 && tries < 64;
    end = text.indexOf('}', end + 1), tries++
  ) {
    try {
      JSON.parse(text.slice(0, end + 1))
      return true
    } catch {
      // The object continues after this brace.
    }
  }
  return false
}

function shown(text: string): string {
  return JSON.stringify(shorten(text, 160))
}

const text = z.string().optional()
const flag = z.boolean().optional()
const object = z.record(z.string(), z.unknown()).optional()

/** The types of fields in `hook-events.yaml`. */
const fieldTypes: Readonly<Record<string, z.ZodType>> = {
  text,
  flag,
  object,
  texts: z.array(z.string()).optional(),
  permission: z
    .discriminatedUnion('behavior', [
      z.looseObject({
        behavior: z.literal('allow'),
        updatedInput: object,
        updatedPermissions: z.array(z.unknown()).optional(),
      }),
      z.looseObject({ behavior: z.literal('deny'), message: text, interrupt: flag }),
    ])
    .optional(),
}

/** `hookSpecificOutput` of an event. Unknown keys are ignored. */
function outputSchema(event: string): z.ZodType {
  const fields = Object.entries(hookEvents.get(event)?.output ?? {}).map(([name, type]) => [
    name,
    Array.isArray(type) ? z.enum(type).optional() : fieldTypes[type],
  ])
  return z.looseObject(Object.fromEntries(fields))
}

const answerSchema = z.looseObject({
  continue: flag,
  stopReason: text,
  suppressOutput: flag,
  systemMessage: text,
  terminalSequence: text,
  decision: z.enum(['approve', 'block']).optional(),
  reason: text,
  async: flag,
  asyncTimeout: z.number().optional(),
  hookSpecificOutput: z.looseObject({ hookEventName: z.string() }).optional(),
})

export type JsonAnswer = z.output<typeof answerSchema>

function issueLine(error: z.ZodError): string {
  const [issue] = error.issues
  return issue === undefined ? 'it does not fit' : `${issue.path.join('.')}: ${issue.message}`
}
