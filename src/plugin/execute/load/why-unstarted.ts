import type { FailureReport } from '../../../agents/contract.ts'
import type { LiveAgent } from '../live-agent.ts'
import type { ExecuteContext } from '../request.ts'

/** Why a process never said what it has loaded: it was too slow, or it ended, and says why to whoever asks. */
export async function whyUnstarted(
  { session, loadMs }: Pick<LiveAgent, 'session' | 'loadMs'>,
  { config }: Pick<ExecuteContext, 'config'>,
): Promise<FailureReport> {
  const limitMs = config.tuning.timeouts.plugin_load_ms
  if (loadMs >= limitMs || session.isAlive?.() !== false)
    return { reason: 'timeout', message: `Claude Code did not say within ${limitMs} ms what it has loaded` }
  const { failure } = await session.ask('')
  return failure ?? { reason: 'unavailable', message: 'Claude Code ended before it said what it has loaded' }
}
