import { exec } from '../../io/exec.ts'
import type { PluginScenario } from '../generate/contract.ts'

export interface ScaffoldPlace {
  readonly workspace: string
  readonly env: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly isAllowed: boolean
}

/** The script of a case that fills its workspace. null when it did or there is none, else why the case is broken. */
export async function runScaffold(scenario: PluginScenario, place: ScaffoldPlace): Promise<string | null> {
  const script = scenario.case?.scaffold_script
  if (script === undefined) return null
  if (!place.isAllowed)
    return `the case needs its scaffold script ${script}, and programs of the plugin's author run only when they are allowed`
  const result = await exec({
    argv: ['bash', script],
    cwd: place.workspace,
    env: place.env,
    timeoutMs: place.timeoutMs,
    signal: place.signal,
    maxOutputBytes: 64 * 1024,
  })
  if (result.ending === 'exited' && result.exitCode === 0) return null
  const how = result.ending === 'exited' ? `exit ${result.exitCode}` : result.ending.replaceAll('_', ' ')
  const said = result.stderr.text.trim().slice(-300)
  return `the scaffold script ${script} failed (${how})${said === '' ? '' : `: ${said}`}`
}
