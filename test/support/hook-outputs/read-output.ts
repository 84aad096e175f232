import { z } from 'zod'
import type { HookReply } from '../../../src/agents/hook-codec.ts'

/** The object on stdout; undefined for an empty one, a problem for everything else. */
export function readOutput(reply: HookReply, schema: z.ZodType): readonly string[] {
  if (reply.stdout === '') return []
  if (!reply.stdout.startsWith('{')) return ['stdout does not begin with an object']
  const parsed = schema.safeParse(outputOf(reply))
  return [
    ...(parsed.success ? [] : [z.prettifyError(parsed.error)]),
    ...strings(outputOf(reply)).flatMap(badText),
  ]
}

export function outputOf({ stdout }: HookReply): Record<string, unknown> | undefined {
  return stdout === '' ? undefined : JSON.parse(stdout)
}

/** Exit code and stderr: 0 without a word, or 2 with a reason, and that only where it means something. */
export function exitProblems({ exitCode, stderr }: HookReply, mayBe2: boolean): readonly string[] {
  if (exitCode === 0) return stderr === '' ? [] : ['stderr with exit code 0 is never seen']
  if (exitCode !== 2) return [`exit code ${exitCode} opens the gate`]
  if (!mayBe2) return ['exit code 2 means nothing here']
  return stderr.trim() === '' ? ['exit code 2 without a reason on stderr'] : badText(stderr)
}

export const text = z.string().min(1)

function strings(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(strings) : []
}

function badText(value: string): readonly string[] {
  return [
    ...(value.length < 10_000 ? [] : [`a text of ${value.length} characters`]),
    ...(value.isWellFormed() ? [] : ['a text with half a character']),
  ]
}
