import { z } from 'zod'
import { callEngine, type EngineRefusal } from './call-engine.ts'
import type { EngineConnection } from './connect-engine.ts'

/** The features that an engine reports. A missing field means unknown. */
export type EngineFacts = z.infer<typeof factsSchema>

const factsSchema = z.object({
  NCPU: z.number().optional(),
  MemoryLimit: z.boolean().optional(),
  SwapLimit: z.boolean().optional(),
  CpuCfsQuota: z.boolean().optional(),
  PidsLimit: z.boolean().optional(),
  CgroupVersion: z.string().optional(),
  SecurityOptions: z.array(z.string()).nullish(),
})

export async function askForFacts(
  connection: EngineConnection,
): Promise<{ readonly kind: 'facts'; readonly facts: EngineFacts } | EngineRefusal> {
  const answer = await callEngine(connection, { method: 'GET', path: '/info', timeoutMs: 30_000 })
  if (answer.kind !== 'done') return answer
  const read = factsSchema.safeParse(answer.value)
  return { kind: 'facts', facts: read.success ? read.data : {} }
}

export function isRootless({ SecurityOptions }: EngineFacts): boolean {
  return (SecurityOptions ?? []).some((option) => /^name=rootless/.test(option))
}

/** Users inside are mapped to other users outside by the engine. */
export function mapsUsers({ SecurityOptions }: EngineFacts): boolean {
  return (SecurityOptions ?? []).some((option) => /^name=userns/.test(option))
}
