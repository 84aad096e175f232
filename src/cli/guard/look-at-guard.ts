import type { HookedAgent } from '../../agents/hook-codecs.ts'
import { hookCodecs } from '../../agents/hook-codecs.ts'
import { installableAgents } from '../../agents/hook-installers.ts'
import { type AgentStatus, findAgent, guardStatus, lastEvents } from '../../guard/status/guard-status.ts'
import { guardHome } from '../../guard-engine/ledger/ledger-place.ts'
import { readSettings } from '../../guard-engine/settings/read-settings.ts'
import { viewsProblem } from '../../guard-engine/views/state-directory.ts'
import { hookBinPath } from '../../guard-install/hook-program.ts'
import type { CliContext } from '../context.ts'
import { hookPlace } from './hook-flags.ts'

export interface GuardView {
  readonly root: string
  readonly node: string
  readonly hookBin: string
  readonly agents: readonly AgentStatus[]
  /** Why the files for people are not up to date; null when they are. */
  readonly viewsProblem: string | null
}

export async function lookAtGuard(
  context: CliContext,
  flags: { readonly agent?: readonly HookedAgent[]; readonly root?: string },
): Promise<GuardView> {
  const { env, signal } = context
  const place = hookPlace(context, flags.root)
  const program = { node: process.execPath, hookBin: hookBinPath() }
  const events = lastEvents(guardHome(env), place.root)
  const agents = await guardStatus({
    agents: flags.agent ?? installableAgents,
    place,
    program,
    codecOf: (agent) => hookCodecs[agent],
    findAgent: (agent) => findAgent(agent, { env, signal }),
    lastEvent: (agent) => events.get(agent) ?? null,
  })
  const { root } = place
  const { settings } = await readSettings({ root, env, userDir: guardHome(env) })
  return { root, ...program, agents, viewsProblem: viewsProblem(root, settings.state.dir) }
}
