import { APICallError, UnsupportedFunctionalityError } from 'ai'
import type { CompletionRequest } from '../provider.ts'
import { isTooLong } from './failure.ts'

/** What a call can do without. */
export type Droppable = 'answerSchema' | 'temperature'

const ofSchema = /schema|response_?format|output_?(?:format|config)|text\.format|tool_choice|response_?mime/i

/** Which setting of the request the model refuses, so that the call would work without it; null when it is none. */
export function refusedSetting(
  error: unknown,
  { answerSchema, temperature }: Pick<CompletionRequest, 'answerSchema' | 'temperature'>,
): Droppable | null {
  const said = complaint(error)
  if (said === null) return null
  if (temperature !== undefined && /temperature/i.test(said)) return 'temperature'
  if (answerSchema !== undefined && ofSchema.test(said)) return 'answerSchema'
  return null
}

function complaint(error: unknown): string | null {
  if (UnsupportedFunctionalityError.isInstance(error)) return `${error.functionality} ${error.message}`
  if (!APICallError.isInstance(error) || (error.statusCode !== 400 && error.statusCode !== 422)) return null
  const said = `${error.message} ${error.responseBody ?? ''}`
  return isTooLong(said) ? null : said
}
