import type { HookedAgent } from '../../agents/hook-codecs.ts'
import { installableAgents } from '../../agents/hook-installers.ts'
import { codecOf } from '../../guard/hook/codec-of.ts'
import { hookBinPath } from '../../guard/install/hook-bin-path.ts'
import { findAgent } from '../../guard/status/find-agent.ts'
import { type AgentStatus, guardStatus } from '../../guard/status/guard-status.ts'
import { lastEvents } from '../../guard/status/last-event.ts'
import { guardHome } from '../../rules/guard-home.ts'
import type { CliContext } from '../context.ts'
import { hookPlace } from './hook-flags.ts'

export interface GuardView {
  readonly root: string
  readonly node: string
  readonly hookBin: string
  readonly agents: readonly AgentStatus[]
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
    codecOf,
    findAgent: (agent) => findAgent(agent, { env, signal }),
    lastEvent: (agent) => events.get(agent) ?? null,
  })
  return { root: place.root, ...program, agents }
}
