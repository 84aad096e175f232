import type { HarnessEvent, Untimed } from '../core/event.ts'
import { runScript, type ScriptPlace } from './run-script.ts'
import type { Scenario } from './schema.ts'

/** Runs after the agent and before any check. A script that fails is a warning: it never blocks the evaluation. */
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
