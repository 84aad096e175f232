import type { HookCodec } from './hook-codec.ts'
import { type HookedAgent, hookedAgents } from './hook-codecs.ts'
import type { HookInstaller } from './hook-installer.ts'

export const installableAgents = Object.keys(hookedAgents) as readonly HookedAgent[]

/** Registers the events that the codec understands. */
export function hookInstallerOf(agent: HookedAgent, codec: Pick<HookCodec, 'events'>): HookInstaller {
  return hookedAgents[agent].installer()(codec.events)
}

/** What is known of an agent besides its events. */
export function hookTraitsOf(
  agent: HookedAgent,
): Pick<HookInstaller, 'executables' | 'projectMarks' | 'needsLauncher' | 'proof'> {
  return hookInstallerOf(agent, { events: [] })
}
