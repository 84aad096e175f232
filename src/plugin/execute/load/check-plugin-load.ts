import type { FailureReport } from '../../../agents/contract.ts'
import type { PluginLoad } from '../../analyze/contract.ts'
import { type LiveClaude, openLiveClaude } from '../live-claude.ts'
import { processSettings } from '../process-settings.ts'
import type { ExecuteContext } from '../request.ts'
import { failedLoad, pluginLoad } from './plugin-load.ts'

/** Starts Claude Code with the plugin, sees what it loaded, and ends it. No model is asked. */
export async function checkPluginLoad(context: ExecuteContext): Promise<PluginLoad> {
  const live = await openLiveClaude(context, processSettings(context, 'alone', null))
  try {
    const { loaded, loadMs } = live
    if (loaded !== null) return pluginLoad(context.plugin, loaded, loadMs)
    const { message } = await whyUnstarted(live, context)
    return failedLoad(context.plugin, message, loadMs)
  } finally {
    await live.close()
  }
}

/** Why a process never said what it has loaded: it was too slow, or it ended, and says why to whoever asks. */
export async function whyUnstarted(
  { session, loadMs }: Pick<LiveClaude, 'session' | 'loadMs'>,
  { config }: Pick<ExecuteContext, 'config'>,
): Promise<FailureReport> {
  const limitMs = config.tuning.timeouts.plugin_load_ms
  if (loadMs >= limitMs || session.isAlive?.() !== false)
    return { reason: 'timeout', message: `Claude Code did not say within ${limitMs} ms what it has loaded` }
  const { failure } = await session.ask('')
  return failure ?? { reason: 'unavailable', message: 'Claude Code ended before it said what it has loaded' }
}
