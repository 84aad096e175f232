import { join } from 'node:path'
import { copyTree } from '../../io/copy-tree.ts'
import { makeDirectories } from '../../io/directory.ts'
import { exec } from '../../io/exec.ts'
import { ownUser } from '../../io/file-owner.ts'
import { signalNumber } from '../../io/host.ts'
import { hostPrograms } from '../bubblewrap/host-programs.ts'
import type {
  Sandbox,
  SandboxEngine,
  SandboxOpening,
  SandboxReport,
  SandboxRequest,
  SandboxStep,
  SandboxStepEnd,
} from '../contract.ts'
import { certificateVariables, placeVariables, searchPath } from '../places.ts'
import {
  labelVariable,
  makeState,
  openingFailure,
  type SandboxState,
  sandboxLabel,
  sweepStates,
} from '../state.ts'

/** `overlay` is a temporary copy of the repository; `readonly` is the repository itself, without protection. */
async function openOnHost(request: SandboxRequest): Promise<SandboxOpening> {
  if (request.signal.aborted) return { kind: 'cancelled' }
  let state: SandboxState | null = null
  try {
    state = makeState('host', sandboxLabel(request.runId), request.env)
    const { keep, layers: [before] = [], repository } = request
    const home = before === undefined ? join(keep ?? state.directory, 'home') : join(before, 'home')
    makeDirectories(home)
    const copy = join(keep ?? state.directory, 'workspace')
    const isCopied = request.workspace === 'overlay' || keep !== undefined || before !== undefined
    // A layer of setup lacks the files that the repository has itself.
    const sources = [repository, ...(before === undefined ? [] : [join(before, 'workspace')])]
    const warnings: string[] = []
    for (const source of isCopied ? sources : [])
      warnings.push(...(await copyTree(source, copy, { keepsOutside: true, keepsTimes: true })).warnings)
    return { kind: 'open', sandbox: sandboxOn(request, state, isCopied ? copy : repository, home, warnings) }
  } catch (cause) {
    await state?.remove()
    return { kind: 'failed', failure: openingFailure(cause) }
  }
}

function sandboxOn(
  request: SandboxRequest,
  state: SandboxState,
  workspace: string,
  home: string,
  warnings: readonly string[],
): Sandbox {
  const closing = new AbortController()
  const closed = AbortSignal.any([request.signal, closing.signal])
  let running: Promise<unknown> = Promise.resolve()
  let left: Promise<readonly string[]> | null = null
  const places: readonly RealPlace[] = [
    { inside: '/workspace', real: workspace },
    { inside: '/artifacts', real: request.artifacts },
    { inside: placeVariables.HOME, real: home },
    ...request.caches.map(({ source, target }) => ({ inside: target, real: source })),
  ]
  return {
    report: reportOf(request, warnings),
    run: (step) => {
      const env = {
        PATH: searchPath(request, request.env.PATH ?? '')
          .split(':')
          .map((entry) => atRealPath(entry, places))
          .join(':'),
        HOME: home,
        // Some toolchains are below the home directory of the user.
        ...hostPrograms(request).env,
        ...(request.network !== 'none' && certificateVariables),
        ...withRealPaths(step.env, places),
        [labelVariable]: state.label,
      }
      const ended = runOnHost(step, workspace, env, closed)
      running = ended
      return ended
    },
    close: () => {
      closing.abort()
      left ??= running
        .catch(() => {})
        .then(() => state.remove())
        .then((why) => (why === null ? [] : [why]))
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
      // As in a shell.
      return { kind: 'exited', exitCode: 128 + signalNumber(result.signal) }
    case 'exited':
      return { kind: 'exited', exitCode: result.exitCode ?? 1 }
  }
}

interface RealPlace {
  readonly inside: string
  readonly real: string
}

function withRealPaths(
  env: Readonly<Record<string, string>>,
  places: readonly RealPlace[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, atRealPath(value, places)]))
}

function atRealPath(path: string, places: readonly RealPlace[]): string {
  const place = places.find(({ inside }) => path === inside || path.startsWith(`${inside}/`))
  return place === undefined ? path : place.real + path.slice(place.inside.length)
}

function reportOf(
  { network, workspace, limits }: SandboxRequest,
  warnings: readonly string[],
): SandboxReport {
  const unlimited = (wanted: number) =>
    ({ kind: 'not_applied', wanted, why: 'the host engine limits nothing' }) as const
  const { uid, gid } = ownUser()
  return {
    engine: 'host',
    engineVersion: null,
    image: 'no image; all programs of this machine',
    sandboxed: false,
    user: `${uid}:${gid}`,
    network,
    workspace,
    limits: {
      memoryBytes: unlimited(limits.memoryBytes),
      cpus: unlimited(limits.cpus),
      pids: unlimited(limits.pids),
      diskBytes: unlimited(limits.diskBytes),
    },
    shortfalls: [
      'Steps run without a sandbox: they may read, change and delete everything that the user who started Gantry may.',
      ...(uid === 0 ? ['Steps run as root.'] : []),
      ...(network === 'none' ? ['The network is not blocked.'] : []),
      workspace === 'overlay'
        ? 'The workspace is a temporary copy of the repository; the repository itself can still be reached by its path.'
        : 'Steps run in the repository itself; whether they changed it is only checked afterwards.',
      'There is no /workspace and no /artifacts: steps find their directories by variables such as TMPDIR.',
      'A process that leaves its session, clears its environment and loses its parent outlives its step.',
      ...warnings,
    ],
  }
}

/**
 * No sandbox: steps run as the caller, with all permissions. Used only when requested by name. There is no `/workspace`
 * and no `/artifacts`: variables with a path in them get the real path instead.
 */
export const hostEngine: SandboxEngine = {
  name: 'host',
  probe: () =>
    Promise.resolve({ engine: 'host', usable: true, detail: 'always available, without any restriction' }),
  open: openOnHost,
  sweep: ({ env }) => sweepStates('host', env),
}
