import { asBoolean, asInteger, asObject, asString, asStrings, defined } from '../../core/json-fields.ts'
import { callEngine, type EngineRefusal } from './call-engine.ts'

/** The features that an engine reports. A missing field means unknown. */
export type EngineFacts = ReturnType<typeof factsIn>

function factsIn(value: unknown) {
  const told = asObject(value) ?? {}
  return defined({
    NCPU: asInteger(told.NCPU),
    MemoryLimit: asBoolean(told.MemoryLimit),
    SwapLimit: asBoolean(told.SwapLimit),
    CpuCfsQuota: asBoolean(told.CpuCfsQuota),
    PidsLimit: asBoolean(told.PidsLimit),
    CgroupVersion: asString(told.CgroupVersion),
    SecurityOptions: asStrings(told.SecurityOptions),
  })
}

export type FactsAnswer = { readonly kind: 'facts'; readonly facts: EngineFacts } | EngineRefusal

/** In the engine's own version, because another one is chosen only when it has described itself. */
export async function askForFacts(socketPath: string): Promise<FactsAnswer> {
  const call = { method: 'GET', path: '/info', timeoutMs: 30_000 } as const
  const answer = await callEngine({ socketPath, apiPrefix: '' }, call)
  return answer.kind === 'done' ? { kind: 'facts', facts: factsIn(answer.value) } : answer
}

export function isRootless({ SecurityOptions }: EngineFacts): boolean {
  return (SecurityOptions ?? []).some((option) => /^name=rootless/.test(option))
}

/** Users inside are mapped to other users outside by the engine. */
export function mapsUsers({ SecurityOptions }: EngineFacts): boolean {
  return (SecurityOptions ?? []).some((option) => /^name=userns/.test(option))
}
