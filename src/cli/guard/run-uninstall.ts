import { hookCodecs } from '../../agents/hook-codecs.ts'
import { installableAgents } from '../../agents/hook-installers.ts'
import { refuseBeneathAgent } from '../../guard/unlock/prove-person.ts'
import { pluginFiles, removePlugin } from '../../guard-install/guard-plugin.ts'
import { hookBinPath } from '../../guard-install/hook-program.ts'
import { uninstallHooks } from '../../guard-install/uninstall-hooks.ts'
import type { CliContext } from '../context.ts'
import { type HookFlags, hookPlace } from './hook-flags.ts'
import { personAndSeal } from './person-and-seal.ts'
import { printPlugin, printUninstalls } from './print-installs.ts'
import { pluginDirectory, refuseDirectory } from './run-install.ts'

export async function runUninstall(
  context: CliContext,
  flags: HookFlags,
  dir: string | undefined,
): Promise<void> {
  const dryRun = flags.dryRun === true
  if (flags.scope === 'plugin') {
    const path = pluginDirectory(context, flags, dir)
    if (!dryRun) await refuseBeneathAgent({ env: context.env, pid: process.pid })
    const names = pluginFiles(hookCodecs['claude-code'].events, {
      node: process.execPath,
      hookBin: hookBinPath(),
    }).keys()
    printPlugin(removePlugin(path, names, { dryRun }), flags, context)
    return
  }
  refuseDirectory(dir)
  const place = hookPlace(context, flags.root)
  const { checkPerson, seal } = personAndSeal(place)
  const outcomes = await uninstallHooks({
    agents: flags.agent ?? installableAgents,
    scope: flags.scope,
    place,
    dryRun,
    eventsOf: (agent) => hookCodecs[agent].events,
    checkPerson,
    seal,
  })
  printUninstalls({ root: place.root, outcomes }, flags, context)
}
