import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { GantryError } from '../core/error.ts'
import { plainRedaction } from '../core/redact/plain-redaction.ts'
import type { Redaction, Variables } from '../core/redaction.ts'
import { type GitInfo, repositoryInfo } from '../io/git.ts'
import { type GitRepository, openRepository } from '../io/git-repository.ts'
import { makeSharedDirectory } from '../io/shared-directory.ts'
import type { CacheMount, Sandbox, SandboxFailure, SandboxOpening } from '../sandboxes/contract.ts'
import type { RunOutcome } from '../store/contract.ts'
import { makeArtifacts, publishArtifacts } from './artifacts.ts'
import type {
  VerificationDetails,
  VerifierResponse,
  VerifierStatus,
  Verify,
  VerifyRequest,
} from './contract.ts'
import { type HashedTree, hashTree } from './hash-tree.ts'
import { runSteps, type StepsOutcome } from './run-steps.ts'
import { evidenceDocument, sandboxDocument } from './sandbox-document.ts'
import { openVerifyLogs, type VerifyLogs } from './verify-logs.ts'

/**
 * Opens the sandbox, runs the steps, and says what that proves about the tree: the hash before and the hash after are the same, or
 * nothing is said. When it settles, the sandbox is gone and the run is ended; only a run whose sandbox never opened is let go
 * without an end, for the caller to remove, and has no id in the response. Throws GantryError INTERRUPTED after an abort.
 */
export const verify: Verify = async (request) => {
  const { run, config, env } = request
  const redaction = await redactionBy(request.redact ?? [], [env, config.env])
  try {
    const start = await begin(request)
    if (start.opening.kind === 'cancelled') return await interrupted(request)
    if (start.opening.kind === 'failed') {
      run.release()
      return infra(start.opening.failure, redaction)
    }
    return await verifyIn(start.opening.sandbox, start.tree, request, redaction)
  } catch (error) {
    if (!isInterruption(error)) run.release()
    throw error
  }
}

/** The engine for patterns is loaded only where there are some. */
async function redactionBy(
  patterns: readonly string[],
  environments: readonly Variables[],
): Promise<Redaction> {
  if (patterns.length === 0) return plainRedaction(...environments)
  const { createRedaction } = await import('../core/redaction.ts')
  return createRedaction(patterns, ...environments)
}

/** What does not depend on each other goes on at once: most of the time of a short run is here. */
async function begin(
  request: VerifyRequest,
): Promise<{ readonly opening: SandboxOpening; readonly tree: LookedAt }> {
  const { repository, run, config } = request
  const artifacts = makeArtifacts(run.dir)
  const caches = cacheMounts(request)
  // First what runs by itself: to open a sandbox keeps this process busy.
  const looking = lookAtTree(repository, run.dir)
  await setImmediate()
  const opening = request.engine.open({
    runId: run.id,
    image: config.image,
    repository,
    workspace: config.workspace,
    artifacts,
    network: config.network,
    limits: config.limits,
    caches,
    env: request.env,
    signal: request.signal,
    onProgress: (text) => request.onEvent?.({ kind: 'progress', text }),
  })
  const [opened, looked] = await Promise.allSettled([opening, looking])
  if (opened.status === 'rejected') throw opened.reason
  if (looked.status === 'rejected') {
    if (opened.value.kind === 'open') await opened.value.sandbox.close()
    throw looked.reason
  }
  return { opening: opened.value, tree: looked.value }
}

interface LookedAt {
  readonly git: GitRepository | null
  readonly before: HashedTree
}

async function lookAtTree(repository: string, runDir: string): Promise<LookedAt> {
  const git = await openRepository(repository)
  return { git, before: await hashTree(repository, runDir, git) }
}

/** What the manifest tells of the commit. Behind a sandbox the steps cannot change it, so that they need not wait. */
async function noteCommit({ run, config }: VerifyRequest, git: GitRepository | null): Promise<void> {
  // The step first: it takes longer.
  await setImmediate()
  const info: GitInfo | null = git === null ? null : await repositoryInfo(git)
  run.change({
    container_image: config.image,
    commit_sha: info?.commit ?? 'unknown',
    dirty: info === null ? null : info.dirty,
  })
}

function cacheMounts({ config, cachesDir }: VerifyRequest): readonly CacheMount[] {
  if (cachesDir === undefined) return []
  return config.caches.map(({ name, path }) => {
    const source = join(cachesDir, name)
    makeSharedDirectory(source)
    return { source, target: path }
  })
}

async function verifyIn(
  sandbox: Sandbox,
  { git, before }: LookedAt,
  request: VerifyRequest,
  redaction: Redaction,
): Promise<VerifierResponse> {
  const { run } = request
  const logs = openVerifyLogs(run, redaction)
  const noting = lateAsked(noteCommit(request, git))
  let steps: StepsOutcome
  let closing: Promise<readonly string[]> | null = null
  let hashing: Promise<HashedTree> | null = null
  const hashAfter = (): Promise<HashedTree> => {
    hashing ??= lateAsked(hashTree(request.repository, run.dir))
    return hashing
  }
  try {
    request.onEvent?.({ kind: 'sandbox_opened', report: sandbox.report })
    if (!sandbox.report.sandboxed) await noting
    steps =
      before.kind === 'failed'
        ? unhashed(before.message)
        : await runSteps({ request, sandbox, logs, redaction, treeHash: before.hash, onLastEnd: hashAfter })
    closing = sandbox.close()
    if (steps.end.kind === 'cancelled') {
      await Promise.all([closing, noting])
      return await interrupted(request)
    }
    // Nothing a step started is alive any more, so that the tree can be looked at meanwhile.
    const [left, after] = await Promise.all([closing, hashAfter(), noting])
    for (const text of left) request.onEvent?.({ kind: 'progress', text })
    return await conclude({ request, redaction, logs, sandbox, steps, before, after, left })
  } finally {
    logs.close()
    await Promise.allSettled([hashing, noting])
    await (closing ?? sandbox.close())
  }
}

/** What is going on beside the steps: its failure counts when it is asked for, and not before. */
function lateAsked<T>(going: Promise<T>): Promise<T> {
  going.catch(() => {})
  return going
}

interface Conclusion {
  readonly request: VerifyRequest
  readonly redaction: Redaction
  readonly logs: VerifyLogs
  readonly sandbox: Sandbox
  readonly steps: StepsOutcome
  readonly before: HashedTree
  readonly after: HashedTree
  /** What the engine could not remove. */
  readonly left: readonly string[]
}

async function conclude(conclusion: Conclusion): Promise<VerifierResponse> {
  const { request, redaction, logs, sandbox, steps, before, after, left } = conclusion
  const { run } = request
  const hashes = { before: hashOf(before), after: hashOf(after) }
  const failure = steps.end.kind === 'infra' ? steps.end.failure : (treeFailure(conclusion) ?? null)
  const status: VerifierStatus =
    failure !== null ? 'INFRA_ERROR' : steps.end.kind === 'passed' ? 'PASS' : 'FAIL'
  const details: VerificationDetails & Readonly<Record<string, unknown>> = {
    verifier_status: status,
    tree_hash_before: hashes.before,
    tree_hash_after: hashes.after,
    tree_unchanged: hashes.before !== '' && hashes.before === hashes.after,
    sandbox: sandboxDocument(sandbox.report),
    evidence: steps.evidence.map(evidenceDocument),
    ...(steps.end.kind === 'failed' && steps.end.fakeGreen !== null && { fake_green: steps.end.fakeGreen }),
    ...(failure !== null && { error_type: failure.type, error_message: redaction.text(failure.message) }),
    ...(left.length > 0 && { not_removed: left }),
  }
  const produced = publishArtifacts(run.dir)
  await run.end({ status: runStatus[status], change: { commands_executed: steps.executed, details } })
  const common = {
    run_id: run.id,
    tail_log: logs.tail(),
    artifact_paths: [join(run.dir, 'manifest.json'), ...logs.paths, ...produced],
    manifest: run.manifest(),
  }
  if (failure !== null) return { ...infra(failure, redaction), ...common }
  if (steps.end.kind !== 'failed') return { status, ...common }
  const { step, fakeGreen } = steps.end
  return { status, ...common, ...(fakeGreen !== null && { fake_green: fakeGreen }), failed_step: step }
}

const runStatus: Readonly<Record<VerifierStatus, RunOutcome['status']>> = {
  PASS: 'pass',
  FAIL: 'fail',
  INFRA_ERROR: 'infra',
}

/** A result holds for one tree. When there were two, it holds for none. */
function treeFailure({ before, after, sandbox }: Conclusion): SandboxFailure | null {
  if (after.kind === 'failed') return { type: 'unknown', message: notHashed(after.message) }
  if (before.kind === 'failed' || before.hash === after.hash) return null
  const who = sandbox.report.sandboxed
    ? 'Somebody edited it meanwhile, or a step reached the host'
    : 'Somebody edited it meanwhile, or a step did, which nothing prevents without a sandbox'
  const message = `the repository was another one after the steps than before them, so the result holds for neither. ${who}. Run it again while nobody edits.`
  return { type: 'unknown', message }
}

function unhashed(message: string): StepsOutcome {
  return {
    executed: [],
    evidence: [],
    end: { kind: 'infra', failure: { type: 'unknown', message: notHashed(message) } },
  }
}

function notHashed(message: string): string {
  return `the repository cannot be read whole, so nothing can be said about it: ${message}`
}

function hashOf(tree: HashedTree): string {
  return tree.kind === 'hashed' ? tree.hash : ''
}

function infra({ type, message }: SandboxFailure, redaction: Redaction): VerifierResponse {
  return {
    status: 'INFRA_ERROR',
    run_id: null,
    tail_log: '',
    artifact_paths: [],
    manifest: null,
    error_type: type,
    error_message: redaction.text(message),
  }
}

async function interrupted({ run }: VerifyRequest): Promise<never> {
  publishArtifacts(run.dir)
  await run.end({ status: 'interrupted' })
  throw new GantryError('INTERRUPTED', 'the verification was cancelled; nothing is said about the repository')
}

function isInterruption(error: unknown): boolean {
  return error instanceof GantryError && error.code === 'INTERRUPTED'
}
