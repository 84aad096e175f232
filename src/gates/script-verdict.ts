import { isObject } from '../core/json-fields.ts'
/** What a script says about itself on stdout. */
export interface ScriptVerdict {
  readonly passed: boolean
  readonly message: string | null
  readonly detail: Readonly<Record<string, unknown>>
}

/**
 * A JSON object with a boolean `passed`: the whole output, or its last line when the script printed other things before. null
 * when there is none, and the exit code decides.
 */
export function readScriptVerdict(stdout: string): ScriptVerdict | null {
  const text = stdout.trim()
  return verdictIn(text) ?? verdictIn(text.slice(text.lastIndexOf('\n') + 1))
}

function verdictIn(text: string): ScriptVerdict | null {
  const value = jsonObject(text)
  if (value === null || typeof value.passed !== 'boolean') return null
  return {
    passed: value.passed,
    message: typeof value.message === 'string' && value.message.trim() !== '' ? value.message : null,
    detail: isObject(value.detail) ? value.detail : {},
  }
}

function jsonObject(text: string): Readonly<Record<string, unknown>> | null {
  if (!text.trimStart().startsWith('{')) return null
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}
