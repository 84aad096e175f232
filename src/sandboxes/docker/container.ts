import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { asObject, asString } from '../../core/json-fields.ts'
import { killPid } from '../../io/process-table.ts'
import type { SandboxRequest } from '../contract.ts'
import { callEngine, type EngineRefusal } from './call-engine.ts'
import type { EngineConnection } from './connect-engine.ts'
import type { ContainerCgroup } from './container-cgroup.ts'
import type { ContainerEvents } from './container-events.ts'
import type { StepUser } from './workspace.ts'

/** A running container that waits for steps. */
export interface Container {
  readonly connection: EngineConnection
  readonly name: string
  readonly request: SandboxRequest
  readonly user: StepUser
  /** In addition to those of the image: `NAME=value`. */
  readonly env: readonly string[]
  /** By its path where possible: the repository is on the PATH, and may contain one of its own. */
  readonly shell: string
  readonly events: ContainerEvents
  readonly cgroup: ContainerCgroup | null
  /** The streams of the first process, which becomes the only step; null when steps are started beside it. */
  readonly first: Duplex | null
  /** Paths on the host that steps can write to, for detecting a full disk. */
  readonly writable: readonly string[]
  /** Those of them that count for the disk limit. */
  readonly counted: readonly string[]
  /** Aborted when the sandbox is closed or cancelled. */
  readonly ended: AbortSignal
  /** Why it can run no further step; null while it can. */
  spent: string | null
}

const killTimeoutMs = 15_000

/** Ends everything in the container. Settles when that is done, or with the reason why that is unknown. */
async function killContainer(container: Container, why: string): Promise<EngineRefusal | null> {
  container.spent = why
  const answer = await callEngine(container.connection, {
    method: 'POST',
    path: `/containers/${container.name}/kill`,
    timeoutMs: killTimeoutMs,
  })
  if (answer.kind === 'gone') killFromOutside(container)
  // 404 and 409: it is gone or no longer running.
  const isOver = answer.kind === 'refused' && (answer.status === 404 || answer.status === 409)
  return answer.kind === 'done' || isOver ? null : answer
}

/** An engine that died leaves its containers running. End those that are processes of this machine, where permitted. */
export function killFromOutside({ cgroup, user }: Container): void {
  for (const pid of cgroup?.processesOf(user.uid) ?? []) killPid(pid)
}

/**
 * Ends the processes that a step left behind. Where the container's processes are visible, the engine is asked only if
 * there are any. One `kill` reaches all of them at the same instant, so that no new process can start in between.
 */
export async function endLeftovers(container: Container): Promise<EngineRefusal | null> {
  const { connection, name, user, cgroup, first } = container
  // With the first process all others have ended, or end now.
  if (first !== null) return killContainer(container, container.spent ?? '')
  for (let tries = 0; tries < 3; tries++) {
    const left = cgroup?.processesOf(user.uid) ?? null
    if (left?.length === 0) return null
    const created = await callEngine(connection, {
      method: 'POST',
      path: `/containers/${name}/exec`,
      body: {
        Cmd: ['sh', '-c', 'kill -9 -1'],
        User: `${user.uid}:${user.gid}`,
        WorkingDir: '/',
        AttachStdout: true,
      },
    })
    const id = created.kind === 'done' ? idIn(created.value) : null
    if (id === null) break
    const started = await callEngine(connection, {
      method: 'POST',
      path: `/exec/${id}/start`,
      body: { Detach: false, Tty: false },
      timeoutMs: killTimeoutMs,
    })
    if (started.kind !== 'done') break
    if (cgroup === null) {
      const state = await execState(connection, id)
      if (state.kind === 'ended' && state.wasStarted) return null
    }
    // A killed process is listed until it is reaped.
    await sleep(5)
  }
  // There were too many processes to start another one, or the engine has changed.
  if (cgroup?.processesOf(user.uid)?.length === 0) return null
  return killContainer(container, 'an earlier step left processes that could not be ended separately')
}

export type ExecState =
  | { readonly kind: 'running' }
  /** `wasStarted`: false when the engine could not start it. */
  | { readonly kind: 'ended'; readonly exitCode: number; readonly wasStarted: boolean }
  | EngineRefusal

export async function execState(connection: EngineConnection, execId: string): Promise<ExecState> {
  const answer = await callEngine(connection, {
    method: 'GET',
    path: `/exec/${execId}/json`,
    timeoutMs: 15_000,
  })
  if (answer.kind !== 'done') return answer
  const { Running, ExitCode, Pid } = answer.value as Readonly<Record<string, unknown>>
  if (Running === true || typeof ExitCode !== 'number') return { kind: 'running' }
  // Podman forgets the pid of an exec that has ended, and reports 125 and up for one that it could not start.
  const wasStarted = connection.product === 'podman' ? ExitCode !== 125 : Pid !== 0
  return { kind: 'ended', exitCode: ExitCode, wasStarted }
}

export function idIn(value: unknown): string | null {
  return asString(asObject(value)?.Id) ?? null
}
