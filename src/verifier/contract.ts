import type { Evidence } from '../core/evidence.ts'
import type { InfraErrorType, SandboxEngine, SandboxLimits, SandboxReport } from '../sandboxes/contract.ts'
import type { ExecutedCommand, LiveRun, Manifest } from '../store/contract.ts'

/** Runs every step of a project in a fresh sandbox. The only thing in the house that may call work done. */
export type Verify = (request: VerifyRequest) => Promise<VerifierResponse>

export interface VerifyRequest {
  /** Absolute, real path. */
  readonly repository: string
  readonly config: VerificationConfig
  readonly engine: SandboxEngine
  /** Made by the caller with kind `verify`; ended by the Verifier. `null` run id in the response when no sandbox could be opened. */
  readonly run: LiveRun
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** Absolute; one directory in it for each named cache. Without it caches are left out. */
  readonly cachesDir?: string
  /** Further patterns (RE2) to redact, those of gantry.yaml. */
  readonly redact?: readonly string[]
  readonly onEvent?: (event: VerifyEvent) => void
}

/** `agent.yaml`, read and checked, sizes and times as numbers. */
export interface AgentFile {
  readonly verification: VerificationConfig
  readonly timeouts: { readonly verificationStepMs: number; readonly scoutQueryMs: number }
  /** Path of the package the task is confined to, relative to the repository; null without `monorepo`. */
  readonly package: string | null
}

export interface VerificationConfig {
  readonly image: string
  readonly steps: readonly VerificationStep[]
  readonly workspace: 'readonly' | 'overlay'
  readonly network: 'none' | 'allow'
  readonly limits: SandboxLimits
  readonly env: Readonly<Record<string, string>>
  readonly caches: readonly NamedCache[]
}

export interface VerificationStep {
  readonly name: string
  readonly command: string
  readonly timeoutMs: number
}

/** A directory that outlives runs, kept under the store's `cache/`. */
export interface NamedCache {
  readonly name: string
  /** Absolute, inside the sandbox. */
  readonly path: string
}

export type VerifierStatus = 'PASS' | 'FAIL' | 'INFRA_ERROR'

/** What `gantry verify --json` prints. A public format: snake_case, fields are only ever added. */
export interface VerifierResponse {
  readonly status: VerifierStatus
  /** null only when no run directory was made or no sandbox started. */
  readonly run_id: string | null
  /** Last 200 lines of the combined log. */
  readonly tail_log: string
  readonly artifact_paths: readonly string[]
  readonly manifest: Manifest | null
  readonly error_type?: InfraErrorType
  readonly error_message?: string
  /** Why a step that ended with 0 is no success: no test was run, everything was skipped. */
  readonly fake_green?: string
  /** The step that failed, for people and for the debug loop. */
  readonly failed_step?: FailedStep
}

export interface FailedStep extends ExecutedCommand {
  /** `0` = first. */
  readonly index: number
  readonly timed_out: boolean
}

/** In `details` of the manifest. */
export interface VerificationDetails {
  readonly tree_hash_before: string
  readonly tree_hash_after: string
  /** `false` would mean that a step reached the host: the run is then INFRA_ERROR. */
  readonly tree_unchanged: boolean
  readonly sandbox: SandboxDocument
  readonly evidence: readonly EvidenceDocument[]
}

/** What was really given, in the spelling of the manifest. */
export interface SandboxDocument
  extends Pick<
    SandboxReport,
    'engine' | 'image' | 'sandboxed' | 'user' | 'network' | 'workspace' | 'shortfalls'
  > {
  readonly engine_version: string | null
  readonly limits: Readonly<Record<'memory_bytes' | 'cpus' | 'pids', LimitDocument>>
}

type LimitDocument =
  | { readonly applied: true; readonly value: number }
  | { readonly applied: false; readonly wanted: number; readonly why: string }

export interface EvidenceDocument
  extends Pick<Evidence, 'kind' | 'command' | 'executed' | 'skipped' | 'failed'> {
  readonly exit_code: number
  readonly tree_hash: string
  readonly started_at: string
  readonly duration_ms: number
}

/** What happens, as it happens. */
export type VerifyEvent =
  | { readonly kind: 'sandbox_opened'; readonly report: SandboxReport }
  | { readonly kind: 'progress'; readonly text: string }
  | { readonly kind: 'step_started'; readonly index: number; readonly step: VerificationStep }
  | { readonly kind: 'step_output'; readonly index: number; readonly text: string }
  | {
      readonly kind: 'step_ended'
      readonly index: number
      readonly command: ExecutedCommand
      readonly timedOut: boolean
    }

export const agentFileName = 'agent.yaml'
