import { isAbsolute, join, normalize } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { removeCgroup } from '../../io/cgroup.ts'
import { copyTree } from '../../io/copy-tree.ts'
import { makeDirectories, readTextIfExists } from '../../io/directory.ts'
import { exec } from '../../io/exec.ts'
import { fileOwner, ownUser } from '../../io/file-owner.ts'
import { isHostRoot } from '../../io/is-root.ts'
import { openStartPipe } from '../../io/open-pipe.ts'
import { isDirectory } from '../../io/path-kind.ts'
import type { Sandbox, SandboxEngine, SandboxFailure, SandboxOpening, SandboxRequest } from '../contract.ts'
import {
  labelVariable,
  makeState,
  openingFailure,
  type SandboxState,
  sandboxLabel,
  sweepStates,
} from '../state.ts'
import { stepUser } from './bwrap-arguments.ts'
import { cgroupRefusal, launchFailure } from './failure.ts'
import { type LaunchedStep, launchStep } from './launch-step.ts'
import { networkDirectory, type Prepared, type Programs, prepare, socketsOf } from './prepare.ts'
import { findBubblewrap, type Proof, probeBubblewrap, proofFor, versionIn } from './probe.ts'

/** Tries everything with an empty command, so that any problem is found before the first step; once per boot for each kind of request. */
async function openBubblewrap(request: SandboxRequest): Promise<SandboxOpening> {
  const found = findBubblewrap(request.env)
  if (found.kind === 'missing')
    return failure(
      'container_creation',
      `bubblewrap cannot be used: ${found.detail}.${found.fix ? ` Install it: ${found.fix.fix}.` : ''}`,
    )
  if (request.signal.aborted) return { kind: 'cancelled' }
  if (request.network === 'allow' && request.image.startsWith('/'))
    return failure(
      'container_creation',
      'bubblewrap cannot allow the network in a root directory of your own: set network to none or host.',
    )
  const problem = checkRequest(request)
  if (problem !== null) return failure('container_creation', problem)
  let state: SandboxState | null = null
  const closing = new AbortController()
  try {
    state = makeState('bubblewrap', sandboxLabel(request.runId), request.env)
    for (const { name, port, isProxy } of socketsOf(request)) {
      const { openOutboundProxy, openRelay } = await import('../../io/outbound-proxy.ts')
      const directory = join(state.directory, networkDirectory)
      makeDirectories(directory)
      const opened = await (isProxy ? openOutboundProxy(directory, name) : openRelay(directory, name, port))
      closing.signal.addEventListener('abort', opened.close)
    }
    const copy = await copyOf(request, state)
    const closed = AbortSignal.any([request.signal, closing.signal])
    const proof = proofFor(request, found, state)
    const tried = await tryOut(request, found, state, copy.path, closed, proof)
    if (tried.kind === 'ready') {
      const { prepared, version } = tried
      const startPipe = request.onlyStep === undefined ? null : openStartPipe()
      // Its sandbox is made while the caller does other work.
      const ahead = request.onlyStep && startPipe ? launchStep(prepared, request.onlyStep, startPipe) : null
      return { kind: 'open', sandbox: sandboxOf(prepared, version, copy, closing, proof, ahead) }
    }
    closing.abort()
    await discard(state)
    return tried.kind === 'failed' ? { kind: 'failed', failure: tried.failure } : { kind: 'cancelled' }
  } catch (cause) {
    closing.abort()
    if (state !== null) await discard(state)
    return { kind: 'failed', failure: openingFailure(cause) }
  }
}

interface Copy {
  /** null when none is needed. */
  readonly path: string | null
  readonly shortfalls: readonly string[]
}

/** An overlay keeps the owner of each file, and only root can map it. So a repository of another user is copied. */
async function copyOf(
  { workspace, repository, keep, layers = [] }: SandboxRequest,
  { directory }: SandboxState,
): Promise<Copy> {
  const isLayered = workspace === 'overlay' || keep !== undefined || layers.length > 0
  if (!isLayered || isHostRoot() || fileOwner(repository).uid === ownUser().uid)
    return { path: null, shortfalls: [] }
  if (keep !== undefined || layers.length > 0)
    throw new GantryError('USAGE', `${repository} belongs to another user, so no setup can be made for it`, {
      hint: 'Run Gantry as the user who owns it, or use Docker.',
    })
  const path = join(directory, 'copy')
  const { warnings } = await copyTree(repository, path)
  const why =
    'The repository belongs to another user, so the workspace is a temporary copy instead of an overlay.'
  return { path, shortfalls: [why, ...warnings] }
}

type TriedOut =
  | { readonly kind: 'ready'; readonly prepared: Prepared; readonly version: string }
  | { readonly kind: 'failed'; readonly failure: SandboxFailure }
  | { readonly kind: 'cancelled' }

async function tryOut(
  request: SandboxRequest,
  programs: Programs,
  state: SandboxState,
  copy: string | null,
  closed: AbortSignal,
  proof: Proof,
  withoutCgroup: string | null = null,
): Promise<TriedOut> {
  const prepared = prepare(request, programs, state, copy, closed, withoutCgroup)
  const known = prepared.cgroup?.mayRefuse === true ? null : proof.version()
  if (known !== null) return { kind: 'ready', prepared, version: known }
  const statusFile = join(state.directory, 'status-first')
  const argv = prepared.argvFor({ command: 'true', env: {} }, statusFile, { isTrial: true })
  if (argv === null) return { kind: 'failed', failure: launchFailure('this processor is not supported') }
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
    return tryOut(request, programs, state, copy, closed, proof, refusal)
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
  copy: Copy,
  closing: AbortController,
  proof: Proof,
  ahead: LaunchedStep | null,
): Sandbox {
  const { request, state } = prepared
  let launched = ahead
  let running: Promise<unknown> = Promise.resolve(ahead?.ended)
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
      shortfalls: [
        ...copy.shortfalls,
        ...networkShortfalls(request),
        ...prepared.hidden.map(
          (entry) => `Programs in ${entry}, which is on the PATH, are not visible: it may contain secrets.`,
        ),
      ],
    },
    run: (step) => {
      if (closing.signal.aborted)
        return Promise.resolve({
          kind: 'failed',
          failure: { type: 'container_creation', message: 'the sandbox is closed.' },
        })
      const { run } = launched ?? launchStep(prepared, step, null)
      launched = null
      const ended = run(step).then((end) => {
        // Try again next time, so that the problem is found before the first step.
        if (end.kind === 'failed' && end.failure.type === 'container_creation') proof.forget()
        return end
      })
      running = ended
      return ended
    },
    wrap: (argv) => prepared.argvFor({ argv }, join(state.directory, 'status-wrapped')) ?? argv,
    close: () => {
      closed ??= close()
      return closed
    },
  }
}

function networkShortfalls({ network }: SandboxRequest): readonly string[] {
  return {
    none: [],
    allow: [
      'Steps reach the network through an HTTP proxy: programs that ignore https_proxy have none. With network: host they have all of it.',
    ],
    host: ["Steps share the host's network: they can reach its loopback services and abstract sockets."],
  }[network]
}

/** What could not be removed, one sentence each. */
async function discard(state: SandboxState): Promise<readonly string[]> {
  const left = await Promise.all(state.notedCgroups().map(removeCgroup))
  return [...left, await state.remove()].filter((why) => why !== null)
}

function failure(type: SandboxFailure['type'], message: string): SandboxOpening {
  return { kind: 'failed', failure: { type, message } }
}

/** Throws for an impossible request. Returns a sentence about what is missing now, or null. */
function checkRequest({ image, repository, artifacts, caches }: SandboxRequest): string | null {
  for (const { target } of caches)
    if (!isAbsolute(target) || normalize(target) !== target || taken.test(target))
      throw new GantryError('USAGE', `a cache cannot be mounted at ${JSON.stringify(target)}`, {
        hint: 'Choose an absolute path below /tmp, /root or /home.',
      })
  const sources = [repository, artifacts, ...caches.map(({ source }) => source)]
  const missing = sources.find((source) => !isDirectory(source))
  if (missing !== undefined) return `${missing} is not a directory that can be mounted.`
  return image.startsWith('/') ? problemOfTree(image) : null
}

/** Paths that the engine itself fills. */
const taken =
  /^\/(?:$|(?:workspace|artifacts|tmp|etc|usr|bin|sbin|lib\w*)$|(?:proc|dev(?!\/shm\/.)|sys)(?:\/|$)|.*\/$)/

function problemOfTree(tree: string): string | null {
  const lacking = ['', '/proc', '/dev', '/tmp', '/workspace', '/artifacts'].filter(
    (name) => !isDirectory(`${tree}${name}`),
  )
  return lacking.length === 0
    ? null
    : `${tree} cannot be the root directory: it lacks ${lacking.map((name) => name || 'itself').join(', ')}.`
}

/** Kernel namespaces and cgroups, without a daemon and without images. The default where there is no Docker. */
export const bubblewrapEngine: SandboxEngine = {
  name: 'bubblewrap',
  probe: probeBubblewrap,
  open: openBubblewrap,
  sweep: ({ env }) => sweepStates('bubblewrap', env),
}
