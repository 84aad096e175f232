import type { HarnessEvent, Untimed } from '../core/event.ts'
import type { Case } from './case.ts'
import { runScript, type ScriptPlace } from './run-script.ts'

/**
 * Set-up commands, then the health check. All set-up commands run even after one failed, so that the author sees every problem
 * at once. Resolves to null when the workspace is ready, else to the reason why the case is invalid.
 */
export async function prepareTarget(
  { scenario, target }: Case,
  place: ScriptPlace,
  timeoutSecs: number,
  emit: (event: Untimed<HarnessEvent>) => void,
): Promise<string | null> {
  let problem: string | null = null
  for (const [index, command] of scenario.setup.commands.entries()) {
    const { exit_code, stdout, stderr, problem: how } = await runScript(command, timeoutSecs, place)
    const success = exit_code === 0
    emit({ event: 'setup_command', index, command, exit_code, output: stdout + stderr, success })
    if (!success) problem ??= `set-up command ${index + 1} failed (${how ?? `exit ${exit_code}`}): ${command}`
  }
  if (problem !== null || target.health_check === undefined) return problem
  const check = await runScript(target.health_check, timeoutSecs, place)
  const success = check.exit_code === 0
  emit({
    event: 'health_check',
    command: target.health_check,
    exit_code: check.exit_code,
    output: check.stdout + check.stderr,
    success,
  })
  return success
    ? null
    : `health check of ${target.binary} failed (${check.problem ?? `exit ${check.exit_code}`}): ${target.health_check}`
}
