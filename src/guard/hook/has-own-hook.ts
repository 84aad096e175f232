import type { HookCodec } from '../../agents/hook-codec.ts'
import type { HookedAgent } from '../../agents/hook-codecs.ts'
import { hookInstallerOf } from '../../agents/hook-installers.ts'
import { readTextIfExists } from '../../io/directory.ts'
import { homeDirectory } from '../../io/host.ts'

export interface HookOwner {
  readonly agent: HookedAgent
  readonly codec: Pick<HookCodec, 'events'>
  /** Of the project. */
  readonly root: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly program: { readonly node: string; readonly hookBin: string | null }
}

/** Is a hook of ours installed for this agent, so that whatever it does is told us by that one? */
export function hasOwnHook({ agent, codec, root, env, program }: HookOwner): boolean {
  const installer = hookInstallerOf(agent, codec)
  const place = { root, home: homeDirectory(env), env }
  const command = {
    program: program.node,
    args: [program.hookBin ?? '', '--agent', agent],
    agentVersion: null,
  }
  // The first is where ours would be. The others may be anything, such as a file of settings with comments in it.
  const files = installer.scopes.flatMap((scope) => installer.files(scope, place).slice(0, 1))
  return [...new Set(files)].some((file) => {
    const text = readTextIfExists(file)
    if (text === null) return false
    const { kind } = installer.inspect(text, command)
    return kind === 'installed' || kind === 'outdated'
  })
}
