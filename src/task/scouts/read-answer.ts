import type { z } from 'zod'
import { extractJson } from '../../models/extract-json.ts'

export type ReadAnswer<Report> =
  | { readonly kind: 'report'; readonly report: Report }
  | { readonly kind: 'wrong'; readonly why: string }

/** The first JSON value in an answer that fits the schema; why the likeliest does not, when none does. */
export function readAnswer<Report>(answer: string, schema: z.ZodType<Report>): ReadAnswer<Report> {
  let why: string | null = null
  for (const value of extractJson(answer)) {
    const read = schema.safeParse(value)
    if (read.success) return { kind: 'report', report: read.data }
    why ??= whyWrong(value, read.error)
  }
  return { kind: 'wrong', why: why ?? 'the answer holds no JSON' }
}

function whyWrong(value: unknown, error: z.ZodError): string {
  if (
    typeof value === 'object' &&
    value !== null &&
    'schema_version' in value &&
    value.schema_version !== '1'
  )
    return `schema_version is ${JSON.stringify(value.schema_version)}, not "1"`
  const [issue] = error.issues
  return issue === undefined
    ? 'it does not fit the schema'
    : `${issue.path.join('.') || 'the answer'}: ${issue.message}`
}
