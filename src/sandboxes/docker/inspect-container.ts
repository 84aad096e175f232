import { asBoolean, asInteger, asObject, asString, asStrings } from '../../core/json-fields.ts'
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

export async function inspectContainer(
  connection: EngineConnection,
  name: string,
): Promise<Inspected | EngineRefusal> {
  const answer = await callEngine(connection, { method: 'GET', path: `/containers/${name}/json` })
  if (answer.kind !== 'done') return answer
  const { Id, Image, ...told } = asObject(answer.value) ?? {}
  const parts = [told.State, told.Config, told.HostConfig, told.NetworkSettings]
  const [state, config, host, network] = parts.map(asObject)
  const [id, imageId, isRunning] = [asString(Id), asString(Image), asBoolean(state?.Running)]
  const [exitCode, pid, nanoCpus] = [
    asInteger(state?.ExitCode),
    asInteger(state?.Pid),
    asInteger(host?.NanoCpus),
  ]
  if (
    id === undefined ||
    imageId === undefined ||
    isRunning === undefined ||
    exitCode === undefined ||
    pid === undefined
  )
    return { kind: 'refused', status: 0, message: 'its description is invalid' }
  return {
    ...{ kind: 'inspected', id, imageId, isRunning, exitCode, pid },
    env: asStrings(config?.Env) ?? [],
    memoryBytes: asInteger(host?.Memory),
    cpus: nanoCpus === undefined ? undefined : nanoCpus / 1e9,
    pids: asInteger(host?.PidsLimit),
    networks: Object.keys(asObject(network?.Networks) ?? {}),
  }
}
