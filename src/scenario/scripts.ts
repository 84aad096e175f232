import { z } from 'zod'
import type { HarnessEvent, Untimed } from '../core/event.ts'
import { defined, isObject } from '../core/json-fields.ts'
import type { EvaluatorResult } from '../core/trial.ts'
import { type ExecResult, exec, shell } from '../io/exec.ts'
import type { Scenario } from './schema.ts'

export interface ScriptPlace {
  readonly workspace: string
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

export type ScriptResult = Awaited<ReturnType<typeof runScript>>

/** A command of the scenario's author: `sh -c` in the workspace, killed with all its child processes at the time limit. */
export async function runScript(command: string, timeoutSecs: number, place: ScriptPlace) {
  const result = await exec({
    argv: shell(command),
    cwd: place.workspace,
    env: place.env,
    timeoutMs: timeoutSecs * 1000,
    signal: place.signal,
    maxOutputBytes: 256 * 1024,
  })
  return {
    /** −1 after a timeout, when a signal ended it, or when it could not be started. */
    exit_code: result.exitCode ?? -1,
    stdout: result.stdout.text,
    stderr: result.stderr.text,
    timed_out: result.ending === 'timed_out',
    /** How it ended, when it did not simply exit. */
    problem: problemOf(result, timeoutSecs),
    duration_ms: Math.round(result.durationMs),
  }
}

function problemOf({ ending, signal, error }: ExecResult, timeoutSecs: number): string | null {
  return {
    exited: null,
    timed_out: `stopped at its limit of ${timeoutSecs} s`,
    signalled: `ended by ${signal}`,
    aborted: 'interrupted',
    not_started: `could not be started: ${error}`,
  }[ending]
}

/** Runs after the agent and before any check. A failing script is a warning and never blocks the evaluation. */
export async function runPostScripts(
  scripts: Scenario['scripts']['post'],
  place: ScriptPlace,
  emit: (event: Untimed<HarnessEvent>) => void,
): Promise<string[]> {
  const warnings: string[] = []
  for (const { command, timeout_secs } of scripts) {
    const { exit_code, timed_out, stdout, stderr, problem } = await runScript(command, timeout_secs, place)
    emit({ event: 'post_script', command, exit_code, timed_out, stdout, stderr })
    if (exit_code !== 0) warnings.push(`post script failed (${problem ?? `exit ${exit_code}`}): ${command}`)
  }
  return warnings
}

type Evaluator = Scenario['scripts']['evaluators'][number]

/** Read one by one, so that a wrong field does not lose the others. null means absent. */
const answerFields = {
  metrics: z.record(z.string(), z.unknown()).nullish(),
  score: z.number().min(0).max(1).nullish(),
  summary: z.string().nullish(),
}

/** Custom measurements. They do not affect the verdict; every failure ends up in the result's `error`. */
export async function runEvaluators(
  evaluators: readonly Evaluator[],
  place: ScriptPlace,
  emit: (event: Untimed<HarnessEvent>) => void,
): Promise<EvaluatorResult[]> {
  const results: EvaluatorResult[] = []
  for (const evaluator of evaluators) {
    const result = readAnswer(evaluator, await runScript(evaluator.command, evaluator.timeout_secs, place))
    emit(defined({ event: 'evaluator', name: result.name, score: result.score, error: result.error }))
    results.push(result)
  }
  return results
}

/** Pure: the result of a finished evaluator. */
export function readAnswer({ name, timeout_secs }: Evaluator, ran: ScriptResult): EvaluatorResult {
  if (ran.timed_out) return { name, error: `timed out after ${timeout_secs} s` }
  if (ran.exit_code !== 0) {
    const stderr = ran.stderr.trim()
    return {
      name,
      error: `${ran.problem ?? `exit code ${ran.exit_code}`}${stderr === '' ? '' : `: ${stderr}`}`,
    }
  }
  const text = ran.stdout.trim()
  if (text === '') return { name, error: 'printed nothing' }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { name, summary: text, error: 'output is not JSON' }
  }
  if (!isObject(value)) return { name, error: 'output is not a JSON object' }
  const problems: string[] = []
  const field = <T>(key: keyof typeof answerFields, schema: z.ZodType<T>): T | null => {
    const { data, error } = schema.safeParse(value[key])
    if (error !== undefined) problems.push(`${key}: ${error.issues.map(({ message }) => message).join('; ')}`)
    return data ?? null
  }
  const metrics = field('metrics', answerFields.metrics)
  const score = field('score', answerFields.score)
  const summary = field('summary', answerFields.summary)
  return {
    name,
    ...(metrics != null && { metrics }),
    ...(score != null && { score }),
    ...(summary != null && { summary }),
    ...(problems.length > 0 && { error: problems.join('; ') }),
  }
}
