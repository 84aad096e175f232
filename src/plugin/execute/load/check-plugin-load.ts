import type { PluginLoad } from '../../analyze/contract.ts'
import { openLiveAgent } from '../live-agent.ts'
import { processSettings } from '../process-settings.ts'
import type { ExecuteContext } from '../request.ts'
import { failedLoad, pluginLoad } from './plugin-load.ts'
import { whyUnstarted } from './why-unstarted.ts'

/** Starts Claude Code with the plugin, sees what it loaded, and ends it. No model is asked. */
export async function checkPluginLoad(context: ExecuteContext): Promise<PluginLoad> {
  const live = await openLiveAgent(context, processSettings(context, 'alone', null))
  try {
    const { loaded, loadMs } = live
    if (loaded !== null) return pluginLoad(context.plugin, loaded, loadMs)
    const { message } = await whyUnstarted(live, context)
    return failedLoad(context.plugin, message, loadMs)
  } finally {
    await live.close()
  }
}
