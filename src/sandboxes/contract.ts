/**
 * An isolated environment for the steps of a verification: fresh for each run and removed afterwards.
 *
 * An engine guarantees the following, or reports that it cannot:
 * - the repository is at `/workspace`, which is the working directory, and at its own path; changes there do not reach
 *   the host. The git directory of a linked worktree, and objects that it shares, are at their own path too;
 * - directories of the repository on the caller's PATH, `.venv/bin` and `node_modules/.bin` come first on the PATH, `~/.local/bin` last;
 * - `/tmp` and `$HOME` are empty, writable, and the same for all steps;
 * - `/artifacts` is the run directory, and the only writable directory of the host;
 * - steps are not root, have no capability, and cannot gain any;
 * - no network unless it is allowed; an allowed one does not reach the loopback of the host;
 * - limits on memory, processors, processes and disk apply to everything that a step starts;
 * - closing removes everything; `sweep` finds leftovers of a killed Gantry by their label and removes them.
 */
export interface SandboxEngine {
  readonly name: SandboxName
  /** Whether it can be used here, and how to fix it if not. Changes nothing. */
  probe(context: EngineContext): Promise<EngineProbe>
  /** Returns an infrastructure failure as a value. Throws GantryError only for an impossible request. */
  open(request: SandboxRequest): Promise<SandboxOpening>
  /** Removes leftovers of killed runs, and returns one line for each. Never touches a sandbox whose owner is alive. */
  sweep(context: EngineContext): Promise<readonly string[]>
}

export type SandboxName = 'docker' | 'bubblewrap' | 'host'

export const sandboxNames: readonly SandboxName[] = ['docker', 'bubblewrap', 'host']

export interface SandboxRequest {
  /** Part of the labels and names of everything that is created. */
  readonly runId: string
  /** As in `verification.container_image`. An engine without images reports what it used instead. */
  readonly image: string
  /** Absolute, on the host. */
  readonly repository: string
  /** The path of the repository that this one is a copy of. Steps find it there, because programs in it have that path. */
  readonly origin?: string
  /** `overlay`: writes go to a layer that is discarded. `writable`: they change the repository, which is also at its own path if it has an origin. */
  readonly workspace: 'readonly' | 'overlay' | 'writable'
  /** Absolute, on the host; must exist. */
  readonly artifacts: string
  /** Layers made by earlier sandboxes with `keep`, the newest first. They are above the repository and in `$HOME`. */
  readonly layers?: readonly string[]
  /** Absolute, on the host: an empty directory that becomes a layer with everything written to the workspace and `$HOME`. */
  readonly keep?: string
  readonly network: SandboxNetwork
  /** Ports on the loopback of the host that are the same inside. Only for an engine with `wrap`. */
  readonly ports?: readonly number[]
  readonly limits: SandboxLimits
  readonly caches: readonly CacheMount[]
  /** The only step that will run. An engine may prepare it, but nothing of it runs before `run`. */
  readonly onlyStep?: Pick<SandboxStep, 'command' | 'env' | 'timeoutMs'>
  /** The caller's environment: PATH to find programs, DOCKER_HOST. Steps do not see it. */
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** Called for slow work, such as pulling an image. */
  readonly onProgress?: (text: string) => void
}

export const sandboxNetworks = ['none', 'allow', 'host'] as const

/** `allow`: other machines. `host`: the network of the host, with its loopback. */
export type SandboxNetwork = (typeof sandboxNetworks)[number]

export interface SandboxLimits {
  readonly memoryBytes: number
  readonly cpus: number
  readonly pids: number
  /** Of everything that steps write, on disk. */
  readonly diskBytes: number
}

/** Another directory of the host, such as one for downloads that is kept between runs. */
export interface CacheMount {
  readonly source: string
  /** `aside`: steps can write, and it is discarded. */
  readonly writes: 'refused' | 'through' | 'aside'
  /** Absolute, inside. */
  readonly target: string
}

export type SandboxOpening =
  | { readonly kind: 'open'; readonly sandbox: Sandbox }
  | { readonly kind: 'failed'; readonly failure: SandboxFailure }
  | { readonly kind: 'cancelled' }

/** One step at a time. */
export interface Sandbox {
  readonly report: SandboxReport
  /** Runs `sh -c command` in `/workspace`. When it settles, no process of the step is alive. */
  run(step: SandboxStep): Promise<SandboxStepEnd>
  /**
   * The command line that starts a program inside, in the repository, with the variables and streams of the caller. Without limits on time and disk. Absent:
   * the engine has no such command line.
   */
  wrap?(argv: readonly [string, ...string[]]): readonly [string, ...string[]]
  /** Ends and removes everything. Safe to call twice; never throws, but returns what it could not remove. */
  close(): Promise<readonly string[]>
}

export interface SandboxStep {
  readonly command: string
  /** In addition to PATH and HOME, which the engine sets. */
  readonly env: Readonly<Record<string, string>>
  readonly timeoutMs: number
  /** Standard output and error together, in order. */
  readonly output: (chunk: Uint8Array) => void
  readonly signal: AbortSignal
}

export type SandboxStepEnd =
  | { readonly kind: 'exited'; readonly exitCode: number }
  | { readonly kind: 'timed_out' }
  | { readonly kind: 'cancelled' }
  /** Ended because it used more than its limit. */
  | { readonly kind: 'exceeded'; readonly limit: 'memory' | 'disk'; readonly bytes: number }
  /** An infrastructure failure: a full disk of the host, the engine died. The step proves nothing about the code. */
  | { readonly kind: 'failed'; readonly failure: SandboxFailure }

export type InfraErrorType =
  | 'docker_unavailable'
  | 'container_creation'
  | 'image_pull'
  | 'resource_exhaustion'
  | 'unknown'

export interface SandboxFailure {
  readonly type: InfraErrorType
  /** One sentence for people, with a fix where one is known. */
  readonly message: string
}

/** What was applied. Readers of the manifest rely on it. */
export interface SandboxReport {
  readonly engine: SandboxName
  /** `20.10.24`, `0.8.0`; null for the host. */
  readonly engineVersion: string | null
  /** Id of the image, or a description of its replacement. */
  readonly image: string
  /** false only on the host, which does not restrict steps. */
  readonly sandboxed: boolean
  /** `uid:gid` inside. */
  readonly user: string
  readonly network: SandboxNetwork
  readonly workspace: SandboxRequest['workspace']
  readonly limits: Readonly<Record<keyof SandboxLimits, LimitState>>
  /** Every other difference from the guarantees, one sentence each. */
  readonly shortfalls: readonly string[]
}

export type LimitState =
  | { readonly kind: 'applied'; readonly value: number }
  | { readonly kind: 'not_applied'; readonly wanted: number; readonly why: string }

/** Whether a sandbox engine can be used here, and how to fix it if not. */
export interface EngineProbe {
  readonly engine: SandboxName
  readonly usable: boolean
  /** Its version if it is usable, else the reason. */
  readonly detail: string
  /** The command that would fix it. */
  readonly fix?: string
}

export interface EngineContext {
  readonly env: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}
