import { join } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { copyTree } from '../../io/copy-tree.ts'
import { makeDirectory } from '../../io/directory.ts'
import { exec } from '../../io/exec.ts'
import { ownUser } from '../../io/file-owner.ts'
import type {
  Sandbox,
  SandboxEngine,
  SandboxOpening,
  SandboxReport,
  SandboxRequest,
  SandboxStep,
  SandboxStepEnd,
} from '../contract.ts'
import { labelVariable, makeState, type SandboxState, sweepStates } from '../state.ts'

/** `overlay` is a copy of the repository that is thrown away; `readonly` is the repository itself, which only trust protects. */
export async function openOnHost(request: SandboxRequest): Promise<SandboxOpening> {
  if (request.signal.aborted) return { kind: 'cancelled' }
  let state: SandboxState | null = null
  try {
    state = makeState('host', request.runId, request.env)
    makeDirectory(join(state.directory, 'home'))
    const copy = join(state.directory, 'copy')
    const warnings =
      request.workspace === 'overlay' ? (await copyTree(request.repository, copy)).warnings : []
    const workspace = request.workspace === 'overlay' ? copy : request.repository
    return { kind: 'open', sandbox: sandboxOn(request, state, workspace, warnings) }
  } catch (cause) {
    state?.remove()
    if (!(cause instanceof GantryError)) throw cause
    const type = cause.code === 'NO_SPACE' ? 'resource_exhaustion' : 'container_creation'
    return {
      kind: 'failed',
      failure: { type, message: [cause.message, cause.hint].filter(Boolean).join('. ') },
    }
  }
}

function sandboxOn(
  request: SandboxRequest,
  state: SandboxState,
  workspace: string,
  warnings: readonly string[],
): Sandbox {
  const closing = new AbortController()
  const closed = AbortSignal.any([request.signal, closing.signal])
  let running: Promise<unknown> = Promise.resolve()
  let left: Promise<readonly string[]> | null = null
  const places: readonly Place[] = [
    { inside: '/workspace', real: workspace },
    { inside: '/artifacts', real: request.artifacts },
    ...request.caches.map(({ source, target }) => ({ inside: target, real: source })),
  ]
  return {
    report: reportOf(request, warnings),
    run: (step) => {
      const env = {
        PATH: request.env.PATH ?? '',
        HOME: join(state.directory, 'home'),
        ...withRealPaths(step.env, places),
        [labelVariable]: state.label,
      }
      const ended = runOnHost(step, workspace, env, closed)
      running = ended
      return ended
    },
    close: () => {
      closing.abort()
      left ??= running.then(
        () => [state.remove()].filter((why) => why !== null),
        () => [state.remove()].filter((why) => why !== null),
      )
      return left
    },
  }
}

async function runOnHost(
  { command, timeoutMs, output, signal }: SandboxStep,
  cwd: string,
  env: Readonly<Record<string, string>>,
  closed: AbortSignal,
): Promise<SandboxStepEnd> {
  const result = await exec({
    argv: ['sh', '-c', 'exec sh -c "$0" 2>&1', command],
    ...{ cwd, env, timeoutMs, graceMs: 0, maxOutputBytes: 4_096, endsWithUs: true },
    signal: AbortSignal.any([signal, closed]),
    onStdout: output,
    onStderr: output,
  })
  switch (result.ending) {
    case 'timed_out':
      return { kind: 'timed_out' }
    case 'aborted':
      return { kind: 'cancelled' }
    case 'not_started':
      return { kind: 'failed', failure: { type: 'container_creation', message: result.error ?? '' } }
    case 'signalled':
      return { kind: 'exited', exitCode: 128 + (signalNumbers[result.signal ?? ''] ?? 0) }
    case 'exited':
      return { kind: 'exited', exitCode: result.exitCode ?? 1 }
  }
}

/** As a shell tells them. */
const signalNumbers: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGILL: 4,
  SIGTRAP: 5,
  SIGABRT: 6,
  SIGBUS: 7,
  SIGFPE: 8,
  SIGKILL: 9,
  SIGUSR1: 10,
  SIGSEGV: 11,
  SIGUSR2: 12,
  SIGPIPE: 13,
  SIGALRM: 14,
  SIGTERM: 15,
}

interface Place {
  readonly inside: string
  readonly real: string
}

function withRealPaths(
  env: Readonly<Record<string, string>>,
  places: readonly Place[],
): Readonly<Record<string, string>> {
  const real = (value: string): string => {
    const place = places.find(({ inside }) => value === inside || value.startsWith(`${inside}/`))
    return place === undefined ? value : place.real + value.slice(place.inside.length)
  }
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, real(value)]))
}

function reportOf(
  { network, workspace, limits }: SandboxRequest,
  warnings: readonly string[],
): SandboxReport {
  const why = 'the host engine limits nothing'
  const { uid, gid } = ownUser()
  return {
    engine: 'host',
    engineVersion: null,
    image: 'no image; everything this machine has',
    sandboxed: false,
    user: `${uid}:${gid}`,
    network,
    workspace,
    limits: {
      memoryBytes: { kind: 'not_applied', wanted: limits.memoryBytes, why },
      cpus: { kind: 'not_applied', wanted: limits.cpus, why },
      pids: { kind: 'not_applied', wanted: limits.pids, why },
    },
    shortfalls: [
      'Steps are not sandboxed: they may read, change and delete whatever the user who started Gantry may.',
      ...(uid === 0 ? ['Steps run as root.'] : []),
      ...(network === 'none' ? ['The network is not off.'] : []),
      workspace === 'overlay'
        ? 'The workspace is a copy of the repository that is thrown away; the repository itself can still be reached by its path.'
        : 'Steps run in the repository itself; that they left it alone is only checked afterwards.',
      'There is no /workspace and no /artifacts: steps find their places by variables such as TMPDIR.',
      'A process that leaves its session, clears its environment and loses its parent outlives its step.',
      ...warnings,
    ],
  }
}

/**
 * No sandbox at all: steps run as the caller, with everything he may do. Only for who asks for it by name. There is no `/workspace`
 * and no `/artifacts`: variables that name a place in them are given the real path instead.
 */
export const hostEngine: SandboxEngine = {
  name: 'host',
  probe: () =>
    Promise.resolve({ engine: 'host', usable: true, detail: 'always there, and holds nothing back' }),
  open: openOnHost,
  sweep: ({ env }) => sweepStates('host', env),
}
