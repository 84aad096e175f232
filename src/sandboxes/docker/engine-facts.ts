import { asBoolean, asInteger, asObject, asString, asStrings, defined } from '../../core/json-fields.ts'
import { callEngine, type EngineRefusal } from './call-engine.ts'
import type { EngineConnection } from './connect-engine.ts'

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

export async function askForFacts(
  connection: EngineConnection,
): Promise<{ readonly kind: 'facts'; readonly facts: EngineFacts } | EngineRefusal> {
  const answer = await callEngine(connection, { method: 'GET', path: '/info', timeoutMs: 30_000 })
  return answer.kind === 'done' ? { kind: 'facts', facts: factsIn(answer.value) } : answer
}

export function isRootless({ SecurityOptions }: EngineFacts): boolean {
  return (SecurityOptions ?? []).some((option) => /^name=rootless/.test(option))
}

/** Users inside are mapped to other users outside by the engine. */
export function mapsUsers({ SecurityOptions }: EngineFacts): boolean {
  return (SecurityOptions ?? []).some((option) => /^name=userns/.test(option))
}
