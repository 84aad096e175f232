import { z } from 'zod'
import { isObject, parseObject } from '../core/json-fields.ts'
import type { Gate } from './contract.ts'
import { excerpt } from './excerpt.ts'
import { command, timeoutSecs } from './fields.ts'
import { exitText, runCommand } from './run-command.ts'

const schema = z
  .strictObject({
    type: z.literal('script').describe('A script decides.'),
    command,
    description: z
      .string()
      .regex(/\S/, 'the description is empty')
      .describe(
        'What the script proves; the message when the script gives none, else a part of the details.',
      ),
    timeout_secs: timeoutSecs,
  })
  .describe(
    'Passes when the script exits with 0. When it prints a JSON object with a boolean `passed` (as its whole output or as its last line), that decides instead; `message` and `detail` are kept.',
  )

export const script = {
  type: 'script',
  schema,
  describesItself: true,
  scripts: ({ command }) => [command],
  async check(spec, context) {
    const run = await runCommand(spec, context)
    if (run.kind === 'broken')
      return { ...run.finding, message: `${spec.description}: ${run.finding.message}` }
    const verdict = readScriptVerdict(run.stdout)
    if (verdict === null) {
      const passed = run.exitCode === 0
      const message = passed ? spec.description : `${spec.description}: exit code ${exitText(run.exitCode)}`
      return { passed, message, detail: run.detail }
    }
    return {
      passed: verdict.passed,
      message: excerpt(verdict.message ?? spec.description, 2_000),
      detail: {
        ...(verdict.message !== null && { description: spec.description }),
        ...merged(verdict.detail, run.detail),
      },
    }
  },
} satisfies Gate<z.output<typeof schema>>

const maxDetailChars = 64 * 1024

/** The script's details keep their names, unless the name is already used for the exit of the script. */
function merged(
  detail: Readonly<Record<string, unknown>>,
  run: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const size = JSON.stringify(detail).length
  if (size > maxDetailChars) return { ...run, script_detail_omitted: `${size} characters` }
  const own = Object.entries(detail).map(
    ([key, value]) => [Object.hasOwn(run, key) ? `script_${key}` : key, value] as const,
  )
  return Object.fromEntries([...own, ...Object.entries(run)])
}

/** The result that a script prints on stdout. */
interface ScriptVerdict {
  readonly passed: boolean
  readonly message: string | null
  readonly detail: Readonly<Record<string, unknown>>
}

/**
 * A JSON object with a boolean `passed`: the whole output, or its last line when the script printed other things before. null
 * when there is none, and the exit code decides.
 */
function readScriptVerdict(stdout: string): ScriptVerdict | null {
  const text = stdout.trim()
  return verdictIn(text) ?? verdictIn(text.slice(text.lastIndexOf('\n') + 1))
}

function verdictIn(text: string): ScriptVerdict | null {
  const value = parseObject(text)
  if (value === null || typeof value.passed !== 'boolean') return null
  return {
    passed: value.passed,
    message: typeof value.message === 'string' && value.message.trim() !== '' ? value.message : null,
    detail: isObject(value.detail) ? value.detail : {},
  }
}
