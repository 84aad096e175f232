import { basename, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { GantryError } from '../core/error.ts'
import { defined } from '../core/json-fields.ts'
import { isDirectory } from '../io/path-kind.ts'
import { refusePipes } from '../io/refuse-pipes.ts'
import { sha256 } from '../io/sha256.ts'
import type { SandboxEngine, SandboxName } from '../sandboxes/contract.ts'
import { chooseEngine } from '../sandboxes/index.ts'
import { cleanAfterRun } from '../store/apply-retention.ts'
import type { LiveRun, Store } from '../store/contract.ts'
import { createRun } from '../store/create-run.ts'
import { removeRun } from '../store/remove-run.ts'
import type { VerifierResponse, VerifyRequest } from './contract.ts'
import type { FoundVerification } from './find-verification.ts'
import type { GuardEvidence, RecordedEvidence } from './guard-evidence.ts'
import { type LookedAt, lookAtTree } from './hash-tree.ts'
import { infraResponse, verify, verifyRedaction } from './verify.ts'

export interface RepositoryRequest
  extends FoundVerification,
    Pick<VerifyRequest, 'origin' | 'env' | 'signal' | 'isUntouched' | 'redact' | 'onEvent'> {
  /** A name, or an engine itself. */
  readonly sandbox: 'auto' | SandboxName | SandboxEngine
  readonly store: Store
  /** For the run's manifest; already redacted. */
  readonly argv: readonly string[]
  readonly title?: string
  /** Parent runs, such as that of a task. */
  readonly refersTo?: readonly string[]
  /** Whether an agent started this process: then evidence for the guard has stricter rules. */
  readonly beneathAgent?: () => Promise<boolean>
  /** Called as soon as there is a run. */
  readonly onRun?: (run: LiveRun) => void
  /** Called when something optional failed. */
  readonly onWarning?: (message: string) => void
}

export interface VerifiedRepository {
  readonly response: VerifierResponse
  /** The evidence recorded for the guard. */
  readonly evidence: RecordedEvidence
}

/**
 * One verification of a repository, from the choice of the engine to cleaning the store. A run without a sandbox leaves
 * no directory behind. Throws GantryError INTERRUPTED after an abort, when everything is closed.
 */
export async function verifyRepository(request: RepositoryRequest): Promise<VerifiedRepository> {
  refusePipes(request.repository)
  const { store, agentFile, repository, origin = repository, signal } = request
  const { guard, looking } = await openEvidence(request)
  const env = guard?.env ?? request.env
  const chosen =
    typeof request.sandbox === 'string'
      ? await chooseEngine(request.sandbox, { env, signal })
      : request.sandbox
  const config = agentFile.file.verification
  if ('failure' in chosen) {
    const redaction = await verifyRedaction({ env, config, redact: request.redact ?? [] })
    return { response: infraResponse(chosen.failure, redaction), evidence: noEvidence }
  }
  const run = openVerifyRun(request)
  request.onRun?.(run)
  const tidy = tidyingOnce(chosen, request, run.id)
  try {
    const response = await verify({
      ...{ repository, origin, config, engine: chosen, run, env, signal },
      cachesDir: cachesDirOf(store, origin),
      ...defined({ looking, redact: request.redact, isUntouched: request.isUntouched }),
      ...defined({ onEvent: request.onEvent }),
      onIdle: () => void tidy().catch(() => {}),
    })
    if (response.run_id === null) removeRun(store, run.id)
    const evidence = (await guard?.record(response)) ?? noEvidence
    return { response, evidence }
  } catch (error) {
    // A run that never started leaves nothing worth keeping.
    if (error instanceof GantryError && error.code !== 'INTERRUPTED' && !isDirectory(join(run.dir, 'logs')))
      removeRun(store, run.id)
    throw error
  } finally {
    await tidy()
  }
}

/** Of a repository: its caches, and the layers of setup. */
export function cachesDirOf({ cacheDir }: Store, origin: string): string {
  return join(cacheDir, 'verify', sha256(origin).slice(0, 16))
}

/** Removes old runs, and leftovers of killed ones. */
function tidyingOnce(engine: SandboxEngine, request: RepositoryRequest, runId: string): () => Promise<void> {
  let tidied: Promise<void> | null = null
  const tidy = async (): Promise<void> => {
    await setImmediate()
    for (const message of cleanAfterRun(request.store, [runId])) request.onWarning?.(message)
    await sweep(engine, request)
  }
  return () => {
    tidied ??= tidy()
    return tidied
  }
}

const noEvidence: RecordedEvidence = { commands: [], why: null }

/** Loading the guard's rules takes as long as everything else, so it happens only when a step could count as evidence. */
async function openEvidence(
  request: RepositoryRequest,
): Promise<{ readonly guard: GuardEvidence | null; readonly looking?: Promise<LookedAt> }> {
  const { repository, agentFile, env, store, beneathAgent = async () => false } = request
  const { steps } = agentFile.file.verification
  if (steps.every(({ command }) => /^\s*(?:true|:|exit 0)\s*$/.test(command))) return { guard: null }
  // git lists the tree meanwhile.
  const looking = lookAtTree(repository, store.root)
  looking.catch(() => {})
  const { guardEvidence } = await import('./guard-evidence.ts')
  return { guard: await guardEvidence({ repository, agentFile, env, beneathAgent }), looking }
}

function openVerifyRun({ store, agentFile, ...request }: RepositoryRequest): LiveRun {
  const { repository, origin = repository } = request
  const run = createRun(store, {
    kind: 'verify',
    title: request.title ?? `verify ${basename(origin)}`,
    argv: request.argv,
    cwd: origin,
    details: { agent_file: agentFile.path, agent_file_sha256: agentFile.sha256 },
    ...defined({ refers_to: request.refersTo, onWarning: request.onWarning }),
  })
  run.freeze('agent.yaml', agentFile.text)
  return run
}

async function sweep(engine: SandboxEngine, { env, signal, onEvent, onWarning }: RepositoryRequest) {
  try {
    for (const text of await engine.sweep({ env, signal })) onEvent?.({ kind: 'progress', text })
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
    onWarning?.(`leftovers of earlier runs could not be removed: ${error.message}`)
  }
}
