import { z } from 'zod'
import type { HarnessEvent, Untimed } from '../core/event.ts'
import type { EvaluatorResult } from '../core/trial.ts'
import { runScript, type ScriptPlace, type ScriptResult } from './run-script.ts'
import type { Scenario } from './schema.ts'

type Evaluator = Scenario['scripts']['evaluators'][number]

const answerSchema = z.looseObject({
  metrics: z.record(z.string(), z.unknown()).optional(),
  score: z.number().min(0).max(1).optional(),
  summary: z.string().optional(),
})

/** Custom measurements. They inform and never decide: whatever goes wrong ends in the result's `error`. */
export async function runEvaluators(
  evaluators: readonly Evaluator[],
  place: ScriptPlace,
  emit: (event: Untimed<HarnessEvent>) => void,
): Promise<EvaluatorResult[]> {
  const results: EvaluatorResult[] = []
  for (const evaluator of evaluators) {
    const result = readAnswer(evaluator, await runScript(evaluator.command, evaluator.timeout_secs, place))
    emit({
      event: 'evaluator',
      name: result.name,
      ...(result.score !== undefined && { score: result.score }),
      ...(result.error !== undefined && { error: result.error }),
    })
    results.push(result)
  }
  return results
}

/** Pure: what a finished evaluator said. */
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
  const answer = answerSchema.safeParse(value)
  if (!answer.success) return { name, error: z.prettifyError(answer.error).replaceAll('\n', '; ') }
  const { metrics, score, summary } = answer.data
  return {
    name,
    ...(metrics !== undefined && { metrics }),
    ...(score !== undefined && { score }),
    ...(summary !== undefined && { summary }),
  }
}
