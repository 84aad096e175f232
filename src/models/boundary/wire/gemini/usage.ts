import { isObject, type JsonObject } from '../../../../core/json-fields.ts'
import type { TokenUsage } from '../../../../core/trial.ts'
import { asCount } from '../json.ts'

/** Google counts cached tokens into the prompt, knows no writing of a cache, and counts thoughts apart from the answer. */
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

/** Null when the provider told nothing. */
export function readUsage(told: unknown): TokenUsage | null {
  if (!isObject(told)) return null
  const cacheRead = asCount(told.cachedContentTokenCount) ?? 0
  const prompt = (asCount(told.promptTokenCount) ?? 0) + (asCount(told.toolUsePromptTokenCount) ?? 0)
  const thinking = asCount(told.thoughtsTokenCount)
  return {
    input: Math.max(0, prompt - cacheRead),
    output: (asCount(told.candidatesTokenCount) ?? 0) + (thinking ?? 0),
    cacheRead,
    cacheWrite: 0,
    ...(thinking !== undefined && { thinking }),
  }
}
