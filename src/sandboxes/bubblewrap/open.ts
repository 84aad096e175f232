import { isAbsolute, join, normalize } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { removeCgroup } from '../../io/cgroup.ts'
import { copyTree } from '../../io/copy-tree.ts'
import { readTextIfExists } from '../../io/directory.ts'
import { exec } from '../../io/exec.ts'
import { fileOwner, ownUser } from '../../io/file-owner.ts'
import { isHostRoot } from '../../io/is-root.ts'
import { isDirectory } from '../../io/path-kind.ts'
import type { Sandbox, SandboxFailure, SandboxOpening, SandboxRequest } from '../contract.ts'
import { labelVariable, makeState, type SandboxState } from '../state.ts'
import { stepUser } from './bwrap-arguments.ts'
import { cgroupRefusal, launchFailure, typeOf } from './failure.ts'
import type { WorkspaceLayer } from './mount-plan.ts'
import { type Prepared, type Programs, prepare } from './prepare.ts'
import { findBubblewrap, type Proof, proofFor, versionIn } from './probe.ts'
import { runStep } from './run-step.ts'

/**
 * Tries everything with a command that does nothing, so that whatever is missing is found before the first step; once since the
 * machine was started for each kind of request.
 */
export async function openBubblewrap(request: SandboxRequest): Promise<SandboxOpening> {
  const found = findBubblewrap(request.env)
  if (found.kind === 'missing')
    return failure(
      'container_creation',
      `bubblewrap cannot be used: ${found.detail}.${found.fix ? ` Install it: ${found.fix.fix}.` : ''}`,
    )
  if (request.signal.aborted) return { kind: 'cancelled' }
  const problem = checkRequest(request)
  if (problem !== null) return failure('container_creation', problem)
  let state: SandboxState | null = null
  const closing = new AbortController()
  try {
    state = makeState('bubblewrap', request.runId, request.env)
    const layer = await workspaceLayer(request, state)
    const closed = AbortSignal.any([request.signal, closing.signal])
    const proof = proofFor(request, found, state)
    const tried = await tryOut(request, found, state, layer, closed, proof)
    if (tried.kind === 'ready') {
      const { prepared, version } = tried
      return { kind: 'open', sandbox: sandboxOf(prepared, version, layer, closing, proof) }
    }
    await discard(state)
    return tried.kind === 'failed' ? { kind: 'failed', failure: tried.failure } : { kind: 'cancelled' }
  } catch (cause) {
    if (state !== null) await discard(state)
    if (!(cause instanceof GantryError)) throw cause
    return failure(
      cause.code === 'NO_SPACE' ? 'resource_exhaustion' : typeOf(cause.message),
      [cause.message, cause.hint].filter(Boolean).join('. '),
    )
  }
}

interface Layer {
  readonly kind: WorkspaceLayer
  readonly source: string
  readonly shortfalls: readonly string[]
}

/** An overlay keeps the owner of each file, and only root can show them as another's: what is not ours has to be copied. */
async function workspaceLayer(
  { workspace, repository }: SandboxRequest,
  { directory }: SandboxState,
): Promise<Layer> {
  if (workspace === 'readonly') return { kind: 'none', source: repository, shortfalls: [] }
  if (isHostRoot() || fileOwner(repository).uid === ownUser().uid)
    return { kind: 'overlay', source: repository, shortfalls: [] }
  const copy = join(directory, 'copy')
  const { warnings } = await copyTree(repository, copy)
  const why =
    'The repository belongs to another user, so the workspace is a copy that is thrown away instead of an overlay.'
  return { kind: 'none', source: copy, shortfalls: [why, ...warnings] }
}

type TriedOut =
  | { readonly kind: 'ready'; readonly prepared: Prepared; readonly version: string }
  | { readonly kind: 'failed'; readonly failure: SandboxFailure }
  | { readonly kind: 'cancelled' }

async function tryOut(
  request: SandboxRequest,
  programs: Programs,
  state: SandboxState,
  layer: Layer,
  closed: AbortSignal,
  proof: Proof,
  withoutCgroup: string | null = null,
): Promise<TriedOut> {
  const prepared = prepare(request, programs, state, layer, closed, withoutCgroup)
  const known = prepared.cgroup?.mayRefuse === true ? null : proof.version()
  if (known !== null) return { kind: 'ready', prepared, version: known }
  const statusFile = join(state.directory, 'status-first')
  const argv = prepared.argvFor({ command: 'true', env: {} }, statusFile, true)
  if (argv === null) return { kind: 'failed', failure: launchFailure('this processor is not known') }
  const tried = await exec({
    argv,
    cwd: '/',
    env: { [labelVariable]: state.label },
    timeoutMs: trialTimeoutMs,
    graceMs: 0,
    signal: closed,
    maxOutputBytes: 16_384,
  })
  if (tried.ending === 'aborted') return { kind: 'cancelled' }
  if (/"exit-code": 0\b/.test(readTextIfExists(statusFile) ?? '')) {
    const version = versionIn(tried.stdout.text)
    proof.remember(version)
    return { kind: 'ready', prepared, version }
  }
  const said = tried.error ?? tried.stderr.text
  const refusal = withoutCgroup === null ? cgroupRefusal(said) : null
  if (refusal !== null) {
    await Promise.all((prepared.cgroup?.directories ?? []).map(removeCgroup))
    return tryOut(request, programs, state, layer, closed, proof, refusal)
  }
  return {
    kind: 'failed',
    failure: launchFailure(tried.ending === 'timed_out' ? 'it did not start in time' : said),
  }
}

const trialTimeoutMs = 30_000

function sandboxOf(
  prepared: Prepared,
  version: string,
  layer: Layer,
  closing: AbortController,
  proof: Proof,
): Sandbox {
  const { request, state } = prepared
  let running: Promise<unknown> = Promise.resolve()
  let closed: Promise<readonly string[]> | null = null
  const close = async (): Promise<readonly string[]> => {
    closing.abort()
    await running.catch(() => {})
    return discard(state)
  }
  return {
    report: {
      engine: 'bubblewrap',
      engineVersion: version,
      image: prepared.image,
      sandboxed: true,
      user: `${stepUser}:${stepUser}`,
      network: request.network,
      workspace: request.workspace,
      limits: prepared.states,
      shortfalls: [...layer.shortfalls, ...networkShortfalls(request)],
    },
    run: (step) => {
      if (closing.signal.aborted)
        return Promise.resolve({
          kind: 'failed',
          failure: { type: 'container_creation', message: 'the sandbox is closed.' },
        })
      const ended = runStep(prepared, step).then((end) => {
        // Tried again next time, so that it is found before the first step.
        if (end.kind === 'failed' && end.failure.type === 'container_creation') proof.forget()
        return end
      })
      running = ended
      return ended
    },
    close: () => {
      closed ??= close()
      return closed
    },
  }
}

function networkShortfalls({ network }: SandboxRequest): readonly string[] {
  return network === 'none'
    ? []
    : [
        "With the network allowed, steps share the host's: its loopback services and abstract sockets can be reached.",
      ]
}

/** What could not be removed, one sentence each. */
async function discard(state: SandboxState): Promise<readonly string[]> {
  const left = await Promise.all(state.notedCgroups().map(removeCgroup))
  return [...left, state.remove()].filter((why) => why !== null)
}

function failure(type: SandboxFailure['type'], message: string): SandboxOpening {
  return { kind: 'failed', failure: { type, message } }
}

/** Throws for a request that can never work; a sentence about what is missing now; null when all is well. */
function checkRequest({ image, repository, artifacts, caches }: SandboxRequest): string | null {
  for (const { target } of caches)
    if (!isAbsolute(target) || normalize(target) !== target || taken.test(target))
      throw new GantryError('USAGE', `a cache cannot be mounted at ${JSON.stringify(target)}`, {
        hint: 'Choose an absolute path below /tmp, /root or /home.',
      })
  const sources = [repository, artifacts, ...caches.map(({ source }) => source)]
  const missing = sources.find((source) => !isDirectory(source))
  if (missing !== undefined) return `${missing} is no directory that can be mounted.`
  return image.startsWith('/') ? problemOfTree(image) : null
}

/** Places that the engine itself fills. */
const taken = /^\/(?:$|(?:workspace|artifacts|tmp|etc|usr|bin|sbin|lib\w*)$|(?:proc|dev|sys)(?:\/|$)|.*\/$)/

function problemOfTree(tree: string): string | null {
  const lacking = ['', '/proc', '/dev', '/tmp', '/workspace', '/artifacts'].filter(
    (name) => !isDirectory(`${tree}${name}`),
  )
  return lacking.length === 0
    ? null
    : `${tree} cannot be the root directory: it lacks ${lacking.map((name) => name || 'itself').join(', ')}.`
}
