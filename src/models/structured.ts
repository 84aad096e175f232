import { z } from 'zod'
import { addCost } from '../core/add-cost.ts'
import { shorten } from '../core/shorten.ts'
import { addTokens } from '../core/trial.ts'
import { type ModelAnswer, type ModelRequest, modelFailureOf } from './contract.ts'
import { extractJson } from './extract-json.ts'
import { modelError } from './model-error.ts'
import type { CompletionRequest } from './provider.ts'

/** Plain text, with the schema for a provider that can enforce it. */
export type AskText = (
  request: ModelRequest & Pick<CompletionRequest, 'answerSchema'>,
) => Promise<ModelAnswer<string>>

/**
 * An answer that matches a schema, from any model that answers with text. An answer that does not match is shown to the
 * model once, with the problem; a second one is a failure of kind `malformed`.
 */
export async function structured<T>(
  ask: AskText,
  { schema, ...request }: ModelRequest & { readonly schema: z.ZodType<T> },
): Promise<ModelAnswer<T>> {
  const answerSchema = await toJsonSchema(schema)
  const prompt = `${request.prompt}\n\nAnswer with one JSON value and nothing else. It must fit this JSON Schema:\n${JSON.stringify(answerSchema)}`
  const first = await ask({ ...request, prompt, answerSchema })
  const fit = await readAnswer(first.value, schema)
  if (fit.kind === 'value') return { ...first, value: fit.value }
  const second = await withCostOf(first, () =>
    ask({ ...request, answerSchema, prompt: `${prompt}\n\n${repairDemand(first.value, fit.problem)}` }),
  )
  const repaired = await readAnswer(second.value, schema)
  const usage = {
    tokens: addTokens(first.tokens, second.tokens),
    costUsd: addCost(first.costUsd, second.costUsd),
  }
  if (repaired.kind === 'value') return { value: repaired.value, ...usage }
  throw modelError({
    reason: 'malformed',
    message: `the model's answer was unusable twice: ${repaired.problem}`,
    ...usage,
  })
}

type Reading<T> =
  | { readonly kind: 'value'; readonly value: T }
  | { readonly kind: 'problem'; readonly problem: string }

async function readAnswer<T>(answer: string, schema: z.ZodType<T>): Promise<Reading<T>> {
  let problem: string | undefined
  for (const candidate of extractJson(answer)) {
    const checked = schema.safeParse(candidate)
    if (checked.success) return { kind: 'value', value: checked.data }
    problem ??= z.prettifyError(checked.error)
  }
  return { kind: 'problem', problem: shorten(problem ?? 'there is no JSON in it', 2_000) }
}

function repairDemand(answer: string, problem: string): string {
  return [
    'This was your last answer, as a JSON string:',
    JSON.stringify(shorten(answer, 4_000)),
    'It cannot be used:',
    problem,
    'Answer again, with the corrected JSON value and nothing else.',
  ].join('\n')
}

/** The schema of the accepted input as JSON Schema, without `$schema`: some providers refuse it. */
export async function toJsonSchema(schema: z.ZodType): Promise<Readonly<Record<string, unknown>>> {
  const { $schema: _, ...shape } = z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' })
  return shape
}

/** A failing call must not hide the cost of the paid calls before it. */
export async function withCostOf<T>(
  paid: Pick<ModelAnswer<unknown>, 'tokens' | 'costUsd'>,
  call: () => Promise<T>,
): Promise<T> {
  try {
    return await call()
  } catch (error) {
    const failure = modelFailureOf(error)
    if (failure === null) throw error
    throw modelError({
      ...failure,
      tokens: addTokens(paid.tokens, failure.tokens),
      costUsd: addCost(paid.costUsd, failure.costUsd),
    })
  }
}
