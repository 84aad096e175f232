import type { Evidence } from '../core/evidence.ts'
import type {
  InfraErrorType,
  SandboxEngine,
  SandboxLimits,
  SandboxNetwork,
  SandboxReport,
} from '../sandboxes/contract.ts'
import type { ExecutedCommand, LiveRun, Manifest } from '../store/contract.ts'
import type { LookedAt } from './hash-tree.ts'

/** Runs every step of a project in a fresh sandbox. Only a verification can declare work done. */
export type Verify = (request: VerifyRequest) => Promise<VerifierResponse>

export interface VerifyRequest {
  /** Absolute, real path. */
  readonly repository: string
  /** The path of the repository that this one is a copy of. */
  readonly origin?: string
  readonly config: VerificationConfig
  readonly engine: SandboxEngine
  /**
   * Created by the caller with kind `verify`, and finished by the Verifier. The response has run id `null` when no
   * sandbox could be opened.
   */
  readonly run: LiveRun
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** What was found out about the tree already. */
  readonly looking?: Promise<LookedAt>
  /** Absolute; contains one directory per named cache, and the layers of setup. Without it caches are ignored. */
  readonly cachesDir?: string
  /** Of a task or of `gantry init`. true: no agent has changed the tree yet, so what setup made is kept even if a step fails. */
  readonly isUntouched?: boolean
  /** Additional patterns (RE2) to redact, from gantry.yaml. */
  readonly redact?: readonly string[]
  readonly onEvent?: (event: VerifyEvent) => void
  /** Called whenever this process only waits: while a slow sandbox opens, and while a step runs. */
  readonly onIdle?: () => void
}

/** `agent.yaml`, validated, with sizes and times as numbers. */
export interface AgentFile {
  readonly verification: VerificationConfig
  readonly timeouts: { readonly verificationStepMs: number; readonly scoutQueryMs: number }
  /** Path of the package the task is confined to, relative to the repository; null without `monorepo`. */
  readonly package: string | null
}

export interface VerificationConfig {
  readonly image: string
  /** Run before the steps; what they write is kept as a layer for the next runs with the same lock files. */
  readonly setup?: readonly VerificationStep[]
  readonly steps: readonly VerificationStep[]
  readonly workspace: 'readonly' | 'overlay'
  readonly network: SandboxNetwork
  readonly limits: SandboxLimits
  readonly env: Readonly<Record<string, string>>
  readonly caches: readonly NamedCache[]
}

export interface VerificationStep {
  readonly name: string
  readonly command: string
  readonly timeoutMs: number
  /** Default: that of the verification. */
  readonly network?: SandboxNetwork
}

/** A directory that is kept between runs, under the store's `cache/`. */
export interface NamedCache {
  readonly name: string
  /** Absolute, inside the sandbox. */
  readonly path: string
}

export type VerifierStatus = 'PASS' | 'FAIL' | 'INFRA_ERROR'

/** What `gantry verify --json` prints. A public format: snake_case, fields are only ever added. */
export interface VerifierResponse {
  readonly status: VerifierStatus
  /** null only when no run directory was created or no sandbox started. */
  readonly run_id: string | null
  /** Last 200 lines of the combined log. */
  readonly tail_log: string
  readonly artifact_paths: readonly string[]
  readonly manifest: Manifest | null
  readonly error_type?: InfraErrorType
  readonly error_message?: string
  /** Why exit code 0 does not count as success: no test was run, or all were skipped. */
  readonly fake_green?: string
  /** The step that failed, for people and for the debug loop. */
  readonly failed_step?: FailedStep
  /** What probably helps, with the lines to add to agent.yaml. */
  readonly hint?: string
}

export interface FailedStep extends ExecutedCommand {
  /** `0` = first. */
  readonly index: number
  readonly timed_out: boolean
  /** Which limit ended it: `killed at 512m of memory`. */
  readonly killed?: string
}

/** In `details` of the manifest. */
export interface VerificationDetails {
  readonly tree_hash_before: string
  readonly tree_hash_after: string
  /** `false` means that a step reached the host: the run is then INFRA_ERROR. */
  readonly tree_unchanged: boolean
  readonly sandbox: SandboxDocument
  readonly evidence: readonly EvidenceDocument[]
  /** Artifacts that no program can reach by a path, as the steps nested them too deeply. */
  readonly artifact_problems?: readonly string[]
  /** Files of the repository that the steps of a task have changed or removed in their workspace. */
  readonly rewritten?: readonly string[]
}

/** The applied settings, in the spelling of the manifest. */
export interface SandboxDocument
  extends Pick<
    SandboxReport,
    'engine' | 'image' | 'sandboxed' | 'user' | 'network' | 'workspace' | 'shortfalls'
  > {
  readonly engine_version: string | null
  readonly limits: Readonly<Record<'memory_bytes' | 'cpus' | 'pids' | 'disk_bytes', LimitDocument>>
}

type LimitDocument =
  | { readonly applied: true; readonly value: number }
  | { readonly applied: false; readonly wanted: number; readonly why: string }

export interface EvidenceDocument
  extends Pick<Evidence, 'kind' | 'command' | 'executed' | 'skipped' | 'failed' | 'failures' | 'unnamed'> {
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
