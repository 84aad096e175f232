import { defined, parseObject } from '../../core/json-fields.ts'
import { askOverUnixHttp } from '../../io/unix-http.ts'
import type { EngineContext, EngineProbe } from '../contract.ts'
import type { EnginePlace } from './call-engine.ts'
import { askForFacts, type FactsAnswer } from './engine-facts.ts'

/** An engine that answers. Podman has the same API on its socket. */
export interface EngineConnection extends EnginePlace {
  readonly product: 'docker' | 'podman'
  readonly version: string
}

export type Connecting =
  | {
      readonly kind: 'connected'
      readonly connection: EngineConnection
      /** Asked for at the same time. */
      readonly facts: Promise<FactsAnswer>
    }
  | { readonly kind: 'absent'; readonly detail: string; readonly cause: 'missing' | 'denied' | 'silent' }

/** A busy machine can keep an engine from answering for many seconds; one that never answers is rare. */
const versionTimeoutMs = 30_000

/** Engines that have answered this process, or are asked now, by what selects them in the environment. */
const known = new Map<string, Promise<Connecting>>()

/** The engine that answered last time, without asking it again; null when none answers. */
export async function knownConnection(context: EngineContext): Promise<EngineConnection | null> {
  const connecting = await (known.get(selection(context)) ?? connectEngine(context))
  return connecting.kind === 'connected' ? connecting.connection : null
}

function selection({ env: { DOCKER_HOST = '', XDG_RUNTIME_DIR = '' } }: EngineContext): string {
  return `${DOCKER_HOST} ${XDG_RUNTIME_DIR}`
}

/** Only `DOCKER_HOST` when it is set; else the first of the usual sockets at which an engine answers. */
export async function connectEngine(context: EngineContext): Promise<Connecting> {
  const finding = findEngine(context)
  known.set(selection(context), finding)
  const connecting = await finding
  if (connecting.kind === 'absent' && known.get(selection(context)) === finding)
    known.delete(selection(context))
  return connecting
}

async function findEngine(context: EngineContext): Promise<Connecting> {
  const { DOCKER_HOST: host } = context.env
  if (host === undefined || host === '') return firstOf(usualSockets(context.env), context)
  const socketPath = /^unix:\/\/(.+)$/.exec(host)?.[1]
  if (socketPath !== undefined) return connect(socketPath, context)
  return { kind: 'absent', detail: `DOCKER_HOST is ${host}, which is not a Unix socket`, cause: 'missing' }
}

function usualSockets(env: EngineContext['env']): readonly [string, ...string[]] {
  const { XDG_RUNTIME_DIR: runtime } = env
  const own = runtime === undefined || runtime === '' ? [] : [`${runtime}/podman/podman.sock`]
  return ['/var/run/docker.sock', ...own, '/run/podman/podman.sock']
}

/** When none answers, report the reason of the first: it is the most common one. */
async function firstOf(
  [first, ...others]: readonly [string, ...string[]],
  context: EngineContext,
): Promise<Connecting> {
  const tried = await connect(first, context)
  if (tried.kind === 'connected') return tried
  for (const socketPath of others) {
    const other = await connect(socketPath, context)
    if (other.kind === 'connected') return other
  }
  return tried
}

async function connect(socketPath: string, { signal }: EngineContext): Promise<Connecting> {
  const facts = askForFacts(socketPath)
  const answer = await askOverUnixHttp(
    defined({ socketPath, method: 'GET', path: '/version', timeoutMs: versionTimeoutMs, signal }),
  )
  if (answer.kind === 'aborted') return { kind: 'absent', detail: 'interrupted', cause: 'silent' }
  if (answer.kind === 'unreachable') {
    if (answer.code === 'EACCES') {
      return { kind: 'absent', detail: `no permission for ${socketPath}`, cause: 'denied' }
    }
    const detail =
      answer.code === 'ENOENT'
        ? `no engine listens at ${socketPath}`
        : `the engine at ${socketPath} does not answer: ${answer.message}`
    return { kind: 'absent', detail, cause: answer.code === 'TIMEOUT' ? 'silent' : 'missing' }
  }
  const described = answer.status === 200 ? readVersion(answer.body) : null
  if (described !== null) return { kind: 'connected', connection: { socketPath, ...described }, facts }
  const detail = `the engine at ${socketPath} answers with ${answer.status} without its version`
  return { kind: 'absent', detail, cause: 'silent' }
}

function readVersion(body: string): Omit<EngineConnection, 'socketPath'> | null {
  const { Version, ApiVersion, MinAPIVersion, Components } = parseObject(body) ?? {}
  if (typeof Version !== 'string' || typeof ApiVersion !== 'string') return null
  const least = typeof MinAPIVersion === 'string' ? MinAPIVersion : ApiVersion
  return {
    product: JSON.stringify(Components ?? []).includes('Podman') ? 'podman' : 'docker',
    version: Version,
    apiPrefix: `/v${apiVersionFor(ApiVersion, least)}`,
  }
}

/** The API version that this code was written for. */
const written = '1.41'

/** Ours, unless the engine is too old or too new for it. */
export function apiVersionFor(newest: string, oldest: string): string {
  if (compare(newest, written) < 0) return newest
  return compare(oldest, written) > 0 ? oldest : written
}

function compare(left: string, right: string): number {
  const [majorLeft = 0, minorLeft = 0] = left.split('.').map(Number)
  const [majorRight = 0, minorRight = 0] = right.split('.').map(Number)
  return majorLeft - majorRight || minorLeft - minorRight
}

/** Asks the engine itself: a client on the PATH does not mean that it runs. Podman answers the same request. */
export async function probeDocker(context: EngineContext): Promise<EngineProbe> {
  const engine = 'docker'
  const tried = await connectEngine(context)
  if (tried.kind === 'absent') return { engine, usable: false, detail: tried.detail, fix: remedyFor(tried) }
  const { product, version } = tried.connection
  return { engine, usable: true, detail: product === 'podman' ? `Podman ${version}` : version }
}

/** The command that would install, start or restart the engine. */
export function remedyFor({ cause }: Extract<Connecting, { kind: 'absent' }>): string {
  switch (cause) {
    case 'denied':
      return 'sudo usermod -aG docker "$USER"'
    case 'silent':
      return 'sudo systemctl restart docker'
    case 'missing':
      return 'sudo apt-get install docker.io && sudo systemctl start docker'
  }
}
