import { readTextIfExists } from '../io/directory.ts'
import { homeDirectory } from '../io/host.ts'
import type { HookCodec } from './hook-codec.ts'
import { type HookedAgent, hookedAgents } from './hook-codecs.ts'
import type { HookInstaller } from './hook-installer.ts'

export const installableAgents = Object.keys(hookedAgents) as readonly HookedAgent[]

export function hookInstallerOf(agent: HookedAgent, codec: Pick<HookCodec, 'events'>): HookInstaller {
  return hookedAgents[agent].installer()(codec.events)
}

/** Facts about an agent besides its events. */
export function hookTraitsOf(
  agent: HookedAgent,
): Pick<HookInstaller, 'executables' | 'projectMarks' | 'proof'> {
  return hookInstallerOf(agent, { events: [] })
}

export interface HookOwner {
  readonly agent: HookedAgent
  readonly codec: Pick<HookCodec, 'events'>
  readonly root: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly program: { readonly node: string; readonly hookBin: string | null }
}

/** Whether a hook of ours is installed for this agent, so that its events already arrive through that hook. */
export function hasGuardHook({ agent, codec, root, env, program }: HookOwner): boolean {
  const installer = hookInstallerOf(agent, codec)
  const place = { root, home: homeDirectory(env), env }
  const command = { program: program.node, args: [program.hookBin ?? '', '--agent', agent] }
  // The first file is where our hook would be. The others can be in any format, such as settings with comments.
  const files = installer.scopes.flatMap((scope) => installer.files(scope, place).slice(0, 1))
  return [...new Set(files)].some((file) => {
    const text = readTextIfExists(file)
    if (text === null) return false
    const { kind } = installer.inspect(text, command)
    return kind === 'installed' || kind === 'outdated'
  })
}
