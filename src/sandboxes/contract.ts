/**
 * A place where the steps of a verification run: apart from the machine, fresh for each run, gone afterwards.
 *
 * An engine promises, or says in its report that it cannot:
 * - the repository is at `/workspace`, which is the working directory, and nothing done there reaches the host;
 * - `/artifacts` is the run directory, writable, and the only place of the host that is;
 * - steps are not root, have no capability, and cannot gain any;
 * - no network unless it is allowed;
 * - limits on memory, processors and processes hold for everything a step starts;
 * - nothing is left when it is closed; what a killed Gantry left is found by its label and removed by `sweep`.
 */
export interface SandboxEngine {
  readonly name: SandboxName
  /** Can it be used here, and what would it take? Changes nothing. */
  probe(context: EngineContext): Promise<EngineProbe>
  /** A failure of the machinery is a value. Throws GantryError only for a request that can never work. */
  open(request: SandboxRequest): Promise<SandboxOpening>
  /** Removes what killed runs left behind; tells what it removed, one line each. Never touches a sandbox whose owner lives. */
  sweep(context: EngineContext): Promise<readonly string[]>
}

export type SandboxName = 'docker' | 'bubblewrap' | 'host'

export const sandboxNames: readonly SandboxName[] = ['docker', 'bubblewrap', 'host']

export interface SandboxRequest {
  /** Goes into labels and names of everything that is made. */
  readonly runId: string
  /** As in `verification.container_image`. An engine without images says what it used instead. */
  readonly image: string
  /** Absolute, on the host. */
  readonly repository: string
  /** `overlay`: writes go to a layer that is thrown away. */
  readonly workspace: 'readonly' | 'overlay'
  /** Absolute, on the host; exists. */
  readonly artifacts: string
  readonly network: 'none' | 'allow'
  readonly limits: SandboxLimits
  readonly caches: readonly CacheMount[]
  /** Of the caller: PATH to find programs, DOCKER_HOST. Steps see none of it. */
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** Something that takes long, such as the pull of an image. */
  readonly onProgress?: (text: string) => void
}

export interface SandboxLimits {
  readonly memoryBytes: number
  readonly cpus: number
  readonly pids: number
}

/** A directory of the host that outlives runs, for downloads. */
export interface CacheMount {
  readonly source: string
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
  /** Runs `sh -c command` in `/workspace`. When it settles, nothing the step started is alive. */
  run(step: SandboxStep): Promise<SandboxStepEnd>
  /** Ends and removes everything. Safe to call twice; never throws for what it cannot remove: it says so. */
  close(): Promise<readonly string[]>
}

export interface SandboxStep {
  readonly command: string
  /** Besides PATH and HOME, which the engine gives. */
  readonly env: Readonly<Record<string, string>>
  readonly timeoutMs: number
  /** Standard output and error together, in the order they came. */
  readonly output: (chunk: Uint8Array) => void
  readonly signal: AbortSignal
}

export type SandboxStepEnd =
  | { readonly kind: 'exited'; readonly exitCode: number }
  | { readonly kind: 'timed_out' }
  | { readonly kind: 'cancelled' }
  /** The machinery broke: out of memory, the engine died. The step says nothing about the code. */
  | { readonly kind: 'failed'; readonly failure: SandboxFailure }

export const infraErrorTypes = [
  'docker_unavailable',
  'container_creation',
  'image_pull',
  'resource_exhaustion',
  'unknown',
] as const

export type InfraErrorType = (typeof infraErrorTypes)[number]

export interface SandboxFailure {
  readonly type: InfraErrorType
  /** One sentence for a person, with what to do where that is known. */
  readonly message: string
}

/** What was really given. A reader of the manifest must be able to trust it. */
export interface SandboxReport {
  readonly engine: SandboxName
  /** `20.10.24`, `0.8.0`; null for the host. */
  readonly engineVersion: string | null
  /** Id of the image, or in words what stood in for it. */
  readonly image: string
  /** false only on the host: nothing holds a step back there. */
  readonly sandboxed: boolean
  /** `uid:gid` inside. */
  readonly user: string
  readonly network: 'none' | 'allow'
  readonly workspace: 'readonly' | 'overlay'
  readonly limits: Readonly<Record<keyof SandboxLimits, LimitState>>
  /** Whatever else falls short of the promise, one sentence each. */
  readonly shortfalls: readonly string[]
}

export type LimitState =
  | { readonly kind: 'applied'; readonly value: number }
  | { readonly kind: 'not_applied'; readonly wanted: number; readonly why: string }

/** Whether a sandbox engine can be used here, and what it takes if not. */
export interface EngineProbe {
  readonly engine: SandboxName
  readonly usable: boolean
  /** Its version when it is usable, else why it is not. */
  readonly detail: string
  /** The command that would mend it. */
  readonly fix?: string
}

export interface EngineContext {
  readonly env: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}
