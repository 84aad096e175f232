import type { Duplex } from 'node:stream'
import { GantryError } from '../../core/error.ts'
import { setTreeOwner } from '../../io/file-owner.ts'
import { isRoot } from '../../io/is-root.ts'
import { makeSharedDirectory } from '../../io/shared-directory.ts'
import { connectOverUnixHttp } from '../../io/unix-http.ts'
import type { InfraErrorType, Sandbox, SandboxFailure, SandboxOpening, SandboxRequest } from '../contract.ts'
import { countedFor, placeVariables, searchPath } from '../places.ts'
import { sandboxLabel } from '../state.ts'
import { callEngine, type EngineAnswer, failureOf, onWire } from './call-engine.ts'
import { connectEngine, type EngineConnection, remedyFor } from './connect-engine.ts'
import type { Container } from './container.ts'
import { type ContainerPlan, containerBody, isFirstProcess, labelsFor, reportOf } from './container-body.ts'
import { containerCgroup } from './container-cgroup.ts'
import { type ContainerEvents, followContainer } from './container-events.ts'
import type { FactsAnswer } from './engine-facts.ts'
import { type Inspected, inspectContainer } from './inspect-container.ts'
import { pullImage } from './pull-image.ts'
import { removeContainer } from './remove-container.ts'
import { noShell, runStep } from './run-step.ts'
import { type MountedPlaces, preparePlaces, type StepUser, stepUser } from './workspace.ts'

/** Opens a fresh container for one run. After a failure nothing is left of it. */
export async function openContainer(request: SandboxRequest): Promise<SandboxOpening> {
  if (request.signal.aborted) return { kind: 'cancelled' }
  const user = stepUser(request.repository)
  const name = sandboxLabel(request.runId)
  const labels = labelsFor(request.runId)
  const connecting = connectEngine(request)
  const [found, asked, preparing] = await Promise.all([
    connecting,
    connecting.then((made) => (made.kind === 'connected' ? made.facts : null)),
    tryToPrepare(request, user, name, labels),
  ])
  if (preparing.kind === 'failed') return request.signal.aborted ? { kind: 'cancelled' } : preparing
  const { places } = preparing
  if (found.kind === 'absent' || asked === null) {
    await places.remove()
    if (request.signal.aborted || found.kind === 'connected') return { kind: 'cancelled' }
    const message = `${capital(found.detail)} (try: ${remedyFor(found)}).`
    return failed('docker_unavailable', message)
  }
  const { connection } = found
  const events = followContainer(connection, name)
  const opening = await start({ request, connection, user, name, labels, places, events }, asked)
  if (opening.kind !== 'open') {
    events.close()
    await removeContainer(connection, name, places)
  }
  return opening
}

interface Opening extends Omit<ContainerPlan, 'facts'> {
  readonly events: ContainerEvents
}

async function start(opening: Opening, asked: FactsAnswer): Promise<SandboxOpening> {
  const { request, connection, name } = opening
  if (asked.kind !== 'facts')
    return refused(asked, 'docker_unavailable', 'the engine does not describe itself')
  const plan = { ...opening, facts: asked.facts }
  for (const body of opening.places.volumes) {
    const made = await callEngine(connection, { method: 'POST', path: '/volumes/create', body })
    if (made.kind !== 'done') return refused(made, 'container_creation', 'the volume cannot be created')
  }
  const created = await create(plan)
  if (created.kind !== 'done') return created
  if (request.signal.aborted) return { kind: 'cancelled' }
  const [hasShell, first] = await Promise.all([
    findShell(connection, name),
    isFirstProcess(plan) ? connectFirst(plan) : null,
  ])
  const started = await callEngine(connection, { method: 'POST', path: `/containers/${name}/start` })
  if (request.signal.aborted) return { kind: 'cancelled' }
  if (started.kind !== 'done') return startRefused(started, request.image)
  opening.places.mounted()
  const inspected = await inspectContainer(connection, name)
  if (inspected.kind !== 'inspected')
    return refused(inspected, 'container_creation', 'the container cannot be inspected')
  if (!inspected.isRunning || (!hasShell && (await endedSoon(connection, name))))
    return failed(
      'container_creation',
      hasShell ? endedAtOnce(request.image, inspected) : noShell(request.image),
    )
  if (first === null && isFirstProcess(plan))
    return failed('container_creation', 'The engine does not give the streams of the container.')
  return { kind: 'open', sandbox: sandboxIn(plan, inspected, hasShell, first) }
}

/** Before its start, so that nothing is missed. */
function connectFirst({ connection, name, events }: Opening): Promise<Duplex | null> {
  const query = { stream: '1', stdin: '1', stdout: '1', stderr: '1' }
  const call = { method: 'POST', path: `/containers/${name}/attach`, query, signal: events.closed } as const
  return connectOverUnixHttp({ ...onWire(connection, call), timeoutMs: 60_000 })
}

function sandboxIn(
  plan: ContainerPlan & Opening,
  inspected: Inspected,
  hasShell: boolean,
  first: Duplex | null,
): Sandbox {
  const { connection, name, request, user, places, events } = plan
  const cgroup = containerCgroup(inspected.id, inspected.pid)
  const closed = new AbortController()
  const container: Container = {
    ...{ connection, name, request, user, events, cgroup, first },
    env: [
      ...Object.entries(placeVariables).map(([key, value]) => `${key}=${value}`),
      // A shell that is searched for must not be found in the repository.
      `PATH=${hasShell ? searchPath(request, pathIn(inspected.env)) : pathIn(inspected.env)}`,
    ],
    shell: hasShell ? '/bin/sh' : 'sh',
    writable: places.writable,
    counted: countedFor(request, places.writable),
    ended: AbortSignal.any([closed.signal, request.signal]),
    spent: null,
  }
  let closing: Promise<readonly string[]> | null = null
  return {
    report: reportOf(plan, inspected, cgroup),
    run: (step) => runStep(container, step),
    close: () => {
      closed.abort()
      closing ??= removeContainer(connection, name, places).finally(() => events.close())
      return closing
    },
  }
}

function pathIn(env: readonly string[]): string {
  const found = env.find((entry) => entry.startsWith('PATH='))?.slice('PATH='.length)
  return found ?? '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
}

/** A missing image is pulled once, also when it was removed since the last check. */
async function create(
  plan: ContainerPlan,
): Promise<Extract<EngineAnswer, { kind: 'done' }> | Exclude<SandboxOpening, { kind: 'open' }>> {
  const ask = (): Promise<EngineAnswer> =>
    callEngine(plan.connection, {
      method: 'POST',
      path: '/containers/create',
      query: { name: plan.name },
      body: containerBody(plan),
    })
  let answer = await ask()
  if (answer.kind === 'refused' && answer.status === 404) {
    const pulled = await pullImage(plan.connection, plan.request)
    if (pulled.kind !== 'pulled') return pulled
    answer = await ask()
  }
  return answer.kind === 'done'
    ? answer
    : refused(answer, 'container_creation', 'the container cannot be created')
}

type Preparing =
  | { readonly kind: 'prepared'; readonly places: MountedPlaces }
  | Extract<SandboxOpening, { kind: 'failed' }>

async function tryToPrepare(
  request: SandboxRequest,
  user: StepUser,
  name: string,
  labels: Readonly<Record<string, string>>,
): Promise<Preparing> {
  try {
    for (const { source, writes } of request.caches) {
      makeSharedDirectory(source)
      if (isRoot() && writes === 'through') setTreeOwner(source, user.uid, user.gid)
    }
    // It is the directory of this run, so it contains nothing of an earlier step.
    if (isRoot()) setTreeOwner(request.artifacts, user.uid, user.gid)
    return { kind: 'prepared', places: await preparePlaces(request, user, { name, labels }) }
  } catch (cause) {
    if (!(cause instanceof GantryError)) throw cause
    const type = cause.code === 'NO_SPACE' ? 'resource_exhaustion' : 'container_creation'
    return failed(
      type,
      `The container cannot be created: ${cause.message}.${cause.hint === undefined ? '' : ` ${cause.hint}`}`,
    )
  }
}

/** The usual path of the shell. Checked before the start: afterwards a missing shell shows only as a container that ends. */
async function findShell(connection: EngineConnection, name: string): Promise<boolean> {
  const answer = await callEngine(connection, {
    method: 'HEAD',
    path: `/containers/${name}/archive`,
    query: { path: '/bin/sh' },
  })
  return answer.kind === 'done'
}

/** An image may have its shell elsewhere on its PATH: then the container still runs after a moment. */
async function endedSoon(connection: EngineConnection, name: string): Promise<boolean> {
  const answer = await callEngine(connection, {
    method: 'POST',
    path: `/containers/${name}/wait`,
    timeoutMs: 1_000,
  })
  return answer.kind === 'done'
}

function startRefused(answer: EngineAnswer, image: string): Exclude<SandboxOpening, { kind: 'open' }> {
  if (answer.kind === 'refused' && /exec: "sh"/.test(answer.message))
    return failed('container_creation', noShell(image))
  return refused(answer, 'container_creation', 'the container cannot be started')
}

function endedAtOnce(image: string, { exitCode }: Inspected): string {
  if (exitCode === 127)
    return `The image ${image} lacks sh or sleep, which a sandbox needs: choose another image.`
  return `The container of ${image} ended at once with exit code ${exitCode}.`
}

function refused(
  answer: EngineAnswer,
  otherwise: InfraErrorType,
  doing: string,
): Exclude<SandboxOpening, { kind: 'open' }> {
  if (answer.kind === 'aborted') return { kind: 'cancelled' }
  if (answer.kind === 'done') return failed('unknown', `${capital(doing)}.`)
  return { kind: 'failed', failure: failureOf(answer, otherwise, doing) }
}

function failed(type: SandboxFailure['type'], message: string): Extract<SandboxOpening, { kind: 'failed' }> {
  return { kind: 'failed', failure: { type, message } }
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
