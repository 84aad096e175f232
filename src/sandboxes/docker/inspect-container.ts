import { z } from 'zod'
import { callEngine, type EngineRefusal } from './call-engine.ts'
import type { EngineConnection } from './connect-engine.ts'

/** A container as the engine describes it after its start: what was applied, not what was requested. */
export interface Inspected {
  readonly kind: 'inspected'
  readonly id: string
  readonly imageId: string
  readonly isRunning: boolean
  readonly exitCode: number
  /** The pid on the engine's machine; 0 when it does not run. */
  readonly pid: number
  /** The image's, `NAME=value`. */
  readonly env: readonly string[]
  readonly memoryBytes: number | undefined
  readonly cpus: number | undefined
  readonly pids: number | undefined
  /** Names of the networks it is in. */
  readonly networks: readonly string[]
}

const schema = z.object({
  Id: z.string(),
  Image: z.string(),
  State: z.object({ Running: z.boolean(), ExitCode: z.number(), Pid: z.number() }),
  Config: z.object({ Env: z.array(z.string()).nullish() }),
  HostConfig: z.object({
    Memory: z.number().nullish(),
    NanoCpus: z.number().nullish(),
    PidsLimit: z.number().nullish(),
  }),
  NetworkSettings: z.object({ Networks: z.record(z.string(), z.unknown()).nullish() }).nullish(),
})

export async function inspectContainer(
  connection: EngineConnection,
  name: string,
): Promise<Inspected | EngineRefusal> {
  const answer = await callEngine(connection, { method: 'GET', path: `/containers/${name}/json` })
  if (answer.kind !== 'done') return answer
  const read = schema.safeParse(answer.value)
  if (!read.success)
    return { kind: 'refused', status: 0, message: `its description is invalid: ${read.error.message}` }
  const { Id, Image, State, Config, HostConfig, NetworkSettings } = read.data
  return {
    kind: 'inspected',
    id: Id,
    imageId: Image,
    isRunning: State.Running,
    exitCode: State.ExitCode,
    pid: State.Pid,
    env: Config.Env ?? [],
    memoryBytes: HostConfig.Memory ?? undefined,
    cpus: typeof HostConfig.NanoCpus === 'number' ? HostConfig.NanoCpus / 1e9 : undefined,
    pids: HostConfig.PidsLimit ?? undefined,
    networks: Object.keys(NetworkSettings?.Networks ?? {}),
  }
}
