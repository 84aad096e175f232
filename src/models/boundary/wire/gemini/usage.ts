import { isObject, type JsonObject } from '../../../../core/json-fields.ts'
import type { TokenUsage } from '../../../../core/trial.ts'
import { asCount } from '../json.ts'

/** Google includes cached tokens in the prompt, does not report cache writes, and counts thinking apart from the answer. */
export function writeUsage({ input, output, cacheRead, cacheWrite, thinking }: TokenUsage): JsonObject {
  const prompt = input + cacheRead + cacheWrite
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: Math.max(0, output - (thinking ?? 0)),
    ...(thinking !== undefined && { thoughtsTokenCount: thinking }),
    ...(cacheRead > 0 && { cachedContentTokenCount: cacheRead }),
    totalTokenCount: prompt + output,
  }
}

/** Null when the provider did not report usage. */
export function readUsage(value: unknown): TokenUsage | null {
  if (!isObject(value)) return null
  const cacheRead = asCount(value.cachedContentTokenCount) ?? 0
  const prompt = (asCount(value.promptTokenCount) ?? 0) + (asCount(value.toolUsePromptTokenCount) ?? 0)
  const thinking = asCount(value.thoughtsTokenCount)
  return {
    input: Math.max(0, prompt - cacheRead),
    output: (asCount(value.candidatesTokenCount) ?? 0) + (thinking ?? 0),
    cacheRead,
    cacheWrite: 0,
    ...(thinking !== undefined && { thinking }),
  }
}
