import { dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { GantryError } from '../core/error.ts'
import { defined } from '../core/json-fields.ts'
import { plainRedaction } from '../core/redact/plain-redaction.ts'
import type { Redaction } from '../core/redaction.ts'
import { type GitInfo, repositoryInfo } from '../io/git.ts'
import type { GitRepository } from '../io/git-repository.ts'
import type { Sandbox, SandboxFailure, SandboxOpening } from '../sandboxes/contract.ts'
import type { LiveRun, RunOutcome } from '../store/contract.ts'
import { makeArtifacts, publishArtifacts } from './artifacts.ts'
import type {
  VerificationDetails,
  VerifierResponse,
  VerifierStatus,
  Verify,
  VerifyRequest,
} from './contract.ts'
import { diagnose } from './diagnose.ts'
import { type HashedTree, hashTree, type LookedAt, lookAtTree } from './hash-tree.ts'
import { openPhases, type Phases } from './open-phases.ts'
import { runSteps, type StepsOutcome, type StepsRequest } from './run-steps.ts'
import { evidenceDocument, sandboxDocument } from './sandbox-document.ts'
import { openVerifyLogs } from './verify-logs.ts'

/**
 * Opens the sandbox, runs the steps, and reports what that proves about the tree. There is a result only if the hash is the same before
 * and after. When it settles, the sandbox is closed and the run is finished. A run whose sandbox never opened is released without an end
 * for the caller to remove, and has no id in the response. Throws GantryError INTERRUPTED after an abort.
 */
export const verify: Verify = async (request) => {
  const { run } = request
  const redaction = await verifyRedaction(request)
  let phases: Phases | null = null
  try {
    phases = await openPhases(request)
    const start = await begin(request, phases)
    if (start.opening.kind === 'cancelled') return await interrupted(request)
    if (start.opening.kind === 'failed') {
      run.release()
      return infraResponse(start.opening.failure, redaction)
    }
    return await verifyIn(start.opening.sandbox, start, request, redaction, phases)
  } catch (error) {
    if (!(error instanceof GantryError && error.code === 'INTERRUPTED')) run.release()
    throw error
  } finally {
    phases?.discard()
  }
}

/** The regular expression engine is loaded only when there are patterns. */
export async function verifyRedaction({
  redact = [],
  env,
  config,
}: Pick<VerifyRequest, 'redact' | 'env' | 'config'>): Promise<Redaction> {
  if (redact.length === 0) return plainRedaction(env, config.env)
  const { createRedaction } = await import('../core/redaction.ts')
  return createRedaction(redact, env, config.env)
}

interface Begun {
  readonly opening: SandboxOpening
  readonly tree: LookedAt
  /** The facts about the commit, if there was time for them. */
  readonly noting: Promise<void> | null
}

/** Independent work runs concurrently: a short run spends most of its time here. */
async function begin(request: VerifyRequest, phases: Phases): Promise<Begun> {
  const { repository, run } = request
  makeArtifacts(run.dir)
  if (phases.isSetupKnown)
    request.onEvent?.({
      kind: 'progress',
      text: 'setup: nothing has changed since it last ran, so its result is used',
    })
  // The sandbox first: it takes longer, and nothing runs in it before the tree is known.
  const opening = lateAsked(phases.open(0))
  await setImmediate()
  const looking = request.looking ?? lookAtTree(repository, storeOf(run))
  const early = await Promise.race([looking, opening.then(() => null)]).catch(() => null)
  const noting = early && lateAsked(noteCommit(request, early.git))
  if (early !== null) request.onIdle?.()
  const [opened, looked] = await Promise.allSettled([opening, looking])
  if (opened.status === 'rejected' || opened.value.kind !== 'open') await Promise.allSettled([noting])
  if (opened.status === 'rejected') throw opened.reason
  if (looked.status === 'rejected') {
    if (opened.value.kind === 'open') await opened.value.sandbox.close()
    throw looked.reason
  }
  return { opening: opened.value, tree: looked.value, noting }
}

/** Runs are in `<store>/runs`. */
function storeOf(run: LiveRun): string {
  return dirname(dirname(run.dir))
}

/** The facts about the commit for the manifest. Sandboxed steps cannot change it, so they need not wait. */
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

async function verifyIn(
  opened: Sandbox,
  { tree: { git, before }, noting: noted }: Begun,
  request: VerifyRequest,
  redaction: Redaction,
  phases: Phases,
): Promise<VerifierResponse> {
  const { run } = request
  let sandbox = opened
  const logs = openVerifyLogs(run, redaction)
  const noting = noted ?? lateAsked(noteCommit(request, git))
  let steps: StepsOutcome = {
    ...{ executed: [], evidence: [] },
    end: before.kind === 'failed' ? { kind: 'infra', failure: unhashed(before.message) } : { kind: 'passed' },
  }
  let closing: Promise<readonly string[]> | null = null
  let hashing: Promise<HashedTree> | null = null
  const hashAfter = (): Promise<HashedTree> => {
    hashing ??= lateAsked(hashTree(request.repository, storeOf(run)))
    return hashing
  }
  try {
    request.onEvent?.({ kind: 'sandbox_opened', report: sandbox.report })
    if (!sandbox.report.sandboxed) await noting
    for (const [index, phase] of phases.all.entries()) {
      if (before.kind === 'failed' || steps.end.kind !== 'passed') break
      if (index > 0) {
        await sandbox.close()
        const opening = await phases.open(index)
        if (opening.kind !== 'open') {
          steps = { ...steps, end: opening.kind === 'failed' ? { ...opening, kind: 'infra' } : opening }
          break
        }
        sandbox = opening.sandbox
        request.onEvent?.({ kind: 'sandbox_opened', report: sandbox.report })
      }
      const { hash: treeHash } = before
      const known = steps
      steps = await runSteps({
        ...{ request, sandbox, logs, redaction, treeHash, phase, known },
        onLastEnd: () => {
          void hashAfter()
          closing = lateAsked(sandbox.close())
        },
      })
    }
    closing ??= sandbox.close()
    if (steps.end.kind === 'cancelled') {
      await Promise.all([closing, noting])
      return await interrupted(request)
    }
    // No process of a step is alive, so the tree can be read now.
    const [left, after] = await Promise.all([closing, hashAfter(), noting])
    for (const text of left) request.onEvent?.({ kind: 'progress', text })
    const rewritten = steps.end.kind === 'infra' ? [] : phases.rewritten()
    const response = await conclude({
      request,
      redaction,
      logs,
      sandbox,
      steps,
      before,
      after,
      left,
      rewritten,
    })
    const isMade = (response.failed_step?.index ?? -1) >= (request.config.setup?.length ?? 0)
    if (response.status === 'PASS' || (request.isUntouched === true && isMade)) phases.keep()
    return response
  } finally {
    logs.close()
    await Promise.allSettled([hashing, noting])
    await (closing ?? sandbox.close())
  }
}

/** Work that runs next to the steps. Its failure is reported only when its result is awaited. */
function lateAsked<T>(going: Promise<T>): Promise<T> {
  going.catch(() => {})
  return going
}

interface Conclusion extends Pick<StepsRequest, 'request' | 'redaction' | 'logs' | 'sandbox'> {
  readonly steps: StepsOutcome
  readonly before: HashedTree
  readonly after: HashedTree
  /** What the engine could not remove. */
  readonly left: readonly string[]
  readonly rewritten: readonly string[]
}

async function conclude(conclusion: Conclusion): Promise<VerifierResponse> {
  const { request, redaction, logs, sandbox, steps, before, after, left, rewritten } = conclusion
  const { run } = request
  const hashes = { before: hashOf(before), after: hashOf(after) }
  const failure = steps.end.kind === 'infra' ? steps.end.failure : treeFailure(conclusion)
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
    ...(rewritten.length > 0 && { rewritten }),
  }
  const { paths: produced, problems } = publishArtifacts(run.dir)
  for (const text of problems) request.onEvent?.({ kind: 'progress', text })
  if (problems.length > 0) Object.assign(details, { artifact_problems: problems })
  await run.end({ status: runStatus[status], change: { commands_executed: steps.executed, details } })
  const common = {
    run_id: run.id,
    tail_log: logs.tail(),
    artifact_paths: [join(run.dir, 'manifest.json'), ...logs.paths, ...produced],
    manifest: run.manifest(),
  }
  if (failure !== null) return { ...infraResponse(failure, redaction), ...common }
  if (steps.end.kind !== 'failed') return { status, ...common }
  const { step, fakeGreen, output } = steps.end
  const { engine } = sandbox.report
  const hint = diagnose(step, output, { ...request.config, engine }, request.repository)?.hint
  return defined({ status, ...common, fake_green: fakeGreen ?? undefined, failed_step: step, hint })
}

const runStatus: Readonly<Record<VerifierStatus, RunOutcome['status']>> = {
  PASS: 'pass',
  FAIL: 'fail',
  INFRA_ERROR: 'infra',
}

/** A result applies to one tree. If the tree changed, it applies to none. */
function treeFailure({ before, after, sandbox }: Conclusion): SandboxFailure | null {
  if (after.kind === 'failed') return unhashed(after.message)
  if (before.kind === 'failed' || before.hash === after.hash) return null
  const who = sandbox.report.sandboxed
    ? 'It was edited, or a step reached the host'
    : 'It was edited, or a step changed it, which nothing prevents without a sandbox'
  const message = `the repository changed while the steps ran, so there is no result. ${who}. Run the verification again without editing the repository.`
  return { type: 'unknown', message }
}

function unhashed(message: string): SandboxFailure {
  return {
    type: 'unknown',
    message: `the repository cannot be read completely, so there is no result: ${message}`,
  }
}

function hashOf(tree: HashedTree): string {
  return tree.kind === 'hashed' ? tree.hash : ''
}

/** The response when there is no result because of the sandbox or the machine. */
export function infraResponse({ type, message }: SandboxFailure, redaction: Redaction): VerifierResponse {
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
  throw new GantryError('INTERRUPTED', 'the verification was cancelled, so there is no result')
}
