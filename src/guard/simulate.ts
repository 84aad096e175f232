import type { HookCaller, HookCodec } from '../agents/hook-codec.ts'
import type { Guard } from '../guard-engine/open-guard.ts'
import type { Rule } from '../rules/contract.ts'

export interface SimulateRequest {
  /** As the agent would send it. */
  readonly payload: unknown
  readonly codec: HookCodec
  readonly caller: HookCaller
  readonly guard: Guard
  readonly rules: readonly Rule[]
}

export type Simulation = Awaited<ReturnType<typeof simulate>>

/** What the guard would answer now, with the real settings, project and history. Writes nothing. */
export async function simulate({ payload, codec, caller, guard, rules }: SimulateRequest) {
  const event = codec.decode(payload, caller)
  const decision = await guard.handle(event, { dry: true, traits: codec.traits })
  const fired = new Set(decision.findings.map(({ rule }) => rule))
  const silent = rules.filter(({ name, on }) => on.includes(event.kind) && !fired.has(name))
  return {
    event,
    decision,
    /** Rules that handle such events and had no finding. */
    silent: silent.map(({ name }) => name),
    reply: codec.encode(event, decision, caller),
  }
}
