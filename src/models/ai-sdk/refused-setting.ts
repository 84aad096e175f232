import { APICallError, UnsupportedFunctionalityError } from 'ai'
import type { CompletionRequest } from '../provider.ts'
import { isTooLong } from './failure.ts'

/** What a call can do without. */
export type Droppable = 'answerSchema' | 'temperature' | 'effort'

const ofSchema = /schema|response_?format|output_?(?:format|config)|text\.format|tool_choice|response_?mime/i
const ofEffort = /effort|thinking|reasoning/i

/** Which setting of the request the model refuses, so that the call would work without it; null when it is none. */
export function refusedSetting(
  error: unknown,
  { answerSchema, temperature, effort }: Pick<CompletionRequest, Droppable>,
): Droppable | null {
  const said = complaint(error)
  if (said === null) return null
  if (temperature !== undefined && /temperature/i.test(said)) return 'temperature'
  // A schema may have a key of that name, and effort stands beside the schema in Anthropic's requests.
  if (effort !== undefined && ofEffort.test(said) && !/schema/i.test(said)) return 'effort'
  if (answerSchema !== undefined && ofSchema.test(said)) return 'answerSchema'
  return null
}

function complaint(error: unknown): string | null {
  if (UnsupportedFunctionalityError.isInstance(error)) return `${error.functionality} ${error.message}`
  if (!APICallError.isInstance(error) || (error.statusCode !== 400 && error.statusCode !== 422)) return null
  const said = `${error.message} ${error.responseBody ?? ''}`
  return isTooLong(said) ? null : said
}
