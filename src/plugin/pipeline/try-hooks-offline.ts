import { readJsonIfExists, writeJsonAtomic } from '../../io/files.ts'
import type { Analysis } from '../analyze/contract.ts'
import { tryHooks } from '../hook-lab/try-hooks.ts'
import type { EvaluationWork } from './evaluation-work.ts'

/** Before any session: what the hooks do with simulated events. Once per run; what it found is told. */
export async function tryHooksOffline(
  { files, powers, redaction, request }: EvaluationWork,
  analysis: Analysis,
): Promise<void> {
  if (readJsonIfExists(files.hookLab) !== undefined) return
  const report = await tryHooks(analysis, {
    env: powers.env,
    signal: powers.signal,
    ...(request.config.execution.cwd !== undefined && { workspace: request.config.execution.cwd }),
  })
  writeJsonAtomic(files.hookLab, redaction.value(report))
  for (const { severity, code, message } of report.findings)
    if (severity !== 'info') powers.onStep({ kind: 'note', level: 'warning', message: `${code}: ${message}` })
}
