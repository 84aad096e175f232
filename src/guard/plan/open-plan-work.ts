import { basename, dirname, join, posix, relative, sep } from 'node:path'
import { z } from 'zod'
import { withoutKeys } from '../../config/agent-variables.ts'
import type { DeclaredCommand } from '../../guard-engine/contract.ts'
import { guardHome, ledgerPlace } from '../../guard-engine/ledger/ledger-place.ts'
import { type Guard, openGuard } from '../../guard-engine/open-guard.ts'
import { settingsCommandSource } from '../../guard-engine/project/command-sources.ts'
import { viewsBelow } from '../../guard-engine/views/state-directory.ts'
import { agentEnvironment } from '../../guard-install/agent-environment.ts'
import { guardLocation } from '../../guard-install/guard-location.ts'
import { installForRun } from '../../guard-install/temporary-guard.ts'
import { directoriesIn, makeDirectories, namesIn, readTextIfExists } from '../../io/directory.ts'
import { readJsonIfExists, removeTree } from '../../io/files.ts'
import { isDirectory } from '../../io/path-kind.ts'
import { makePrivateDirectories, writePrivateFileAtomic } from '../../io/private-files.ts'
import { openShadowRepository, type ShadowRepository } from '../../io/shadow-repository.ts'
import type { Boundary } from '../../models/boundary/contract.ts'
import { lazyBoundary } from '../../models/boundary/lazy-boundary.ts'
import { rules } from '../../rules/index.ts'
import type { LiveRun } from '../../store/contract.ts'
import type { PlanStep } from './plan-event.ts'
import type { PlanFile } from './plan-file.ts'
import type { PreparedPlan } from './prepare-plan.ts'

/** A plan run in progress: what every iteration needs. */
export interface PlanWork {
  readonly prepared: PreparedPlan
  readonly run: LiveRun
  readonly file: PlanFile
  readonly shadow: ShadowRepository
  readonly notes: PrivateNotes
  /** Declared at the start of the run. */
  readonly declared: readonly DeclaredCommand[]
  readonly env: Readonly<Record<string, string>>
  /** The same without the keys of the agent's model, because code written by the agent runs in it. */
  readonly checkEnv: Readonly<Record<string, string>>
  readonly home: string
  readonly tmp: string
  /** Files that are not work of the agent and must not be committed, relative to the root. */
  readonly leaveOut: readonly string[]
  /** For an agent in our own process; null for all others. */
  readonly guard: Guard | null
  boundary(): Promise<Boundary>
  step(step: PlanStep): void
  readonly signal: AbortSignal
}

/** Opens everything a run needs. Closed in reverse order, however the run ends. */
export async function openPlanWork(
  prepared: PreparedPlan,
  run: LiveRun,
  context: Pick<PlanWork, 'step' | 'signal'>,
): Promise<AsyncDisposable & { readonly work: PlanWork }> {
  const { request, agent, host, settings, guard, program } = prepared
  const { root } = request
  await using stack = new AsyncDisposableStack()
  const places = { home: join(run.dir, 'home'), tmp: join(run.dir, 'tmp') }
  for (const place of Object.values(places)) makeDirectories(place)
  const env = agentEnvironment({ agent, host, hasModelLink: prepared.modelLink !== null, ...places })
  const place = { root, home: env.HOME ?? places.home, env }
  if (guard.kind === 'temporary') {
    const { agent: hooked, path } = guard
    stack.defer(await installForRun({ agent: hooked, path, place, program, runDir: run.dir }))
  }
  const leaveOut = [
    draftOf(request.plan),
    ...viewsBelow(root, settings.state.dir),
    ...(guard.kind === 'temporary' ? besides(root, guard.path) : []),
  ]
  const home = guardHome(host)
  const notes = openPrivateNotes({ guardHome: home, root, runDir: run.dir, runId: run.id })
  const shadow = await openShadowRepository({ dir: notes.shadow, root, leaveOut, env: host })
  const boundary = stack.use(lazyBoundary())
  const work: PlanWork = {
    ...context,
    prepared,
    run,
    file: { root, path: request.plan },
    shadow,
    notes,
    declared: declaredIn(run) ?? prepared.declared,
    env,
    checkEnv: withoutKeys(agent, env),
    home: place.home,
    tmp: env.TMPDIR ?? places.tmp,
    leaveOut,
    guard: guard.kind === 'in_process' ? guardInProcess(root, env) : null,
    boundary: boundary.get,
  }
  const kept = stack.move()
  return { work, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

function guardInProcess(root: string, env: Readonly<Record<string, string>>): Guard {
  const { guardHome, agentFiles, hookBin } = guardLocation(root, env)
  return openGuard({ rules, guardHome, env, own: agentFiles, hookBin })
}

/** The temporary file that remains when a writer of the plan is killed. */
function draftOf(plan: string): string {
  return posix.join(posix.dirname(plan), `.${posix.basename(plan)}.gantry-draft`)
}

function besides(root: string, path: string): readonly string[] {
  const directory = dirname(path)
  const copies = namesIn(directory).filter((name) => name.startsWith(`${basename(path)}.gantry-backup-`))
  return [path, ...copies.map((name) => join(directory, name))].map((each) =>
    relative(root, each).split(sep).join('/'),
  )
}

/** Commands declared at the start of the run stay declared, even if the files change. */
function declaredIn(run: LiveRun): readonly DeclaredCommand[] | null {
  const plan = run.plan()
  if (plan === null || !('declared' in plan) || !Array.isArray(plan.declared)) return null
  // The user's settings are read again, because the agent cannot change them.
  return plan.declared.filter(isDeclared).filter(({ source }) => source !== settingsCommandSource)
}

function isDeclared(value: unknown): value is DeclaredCommand {
  if (typeof value !== 'object' || value === null || !('command' in value)) return false
  return typeof value.command === 'string'
}

/** The plan and the tree at the start of an iteration. */
const iterationStart = z.object({
  task: z.string(),
  line: z.number(),
  plan: z.string(),
  /** The tree when the task was started. */
  baseline: z.string(),
})

export type IterationStart = Readonly<z.infer<typeof iterationStart>>

/**
 * Data that a run needs unredacted: the text of the plan and states of the tree. It is stored in the guard's private directory and not in
 * the run directory, which people share.
 */
type PrivateNotes = ReturnType<typeof openPrivateNotes>

interface NotesPlace {
  readonly guardHome: string
  readonly root: string
  readonly runDir: string
  readonly runId: string
}

function openPrivateNotes({ guardHome, root, runDir, runId }: NotesPlace) {
  const all = join(ledgerPlace(guardHome, root, '').directory, 'plan-runs')
  removeOrphans(all)
  const dir = join(all, runId)
  makePrivateDirectories(dir)
  writePrivateFileAtomic(join(dir, ownerFile), runDir)
  return {
    shadow: join(dir, 'shadow.git'),
    begin: (iteration: string, begun: IterationStart): void =>
      writePrivateFileAtomic(join(dir, `${iteration}.json`), JSON.stringify(begun)),
    begunOf: (iteration: string): IterationStart | null =>
      iterationStart.safeParse(readJsonIfExists(join(dir, `${iteration}.json`))).data ?? null,
    remove: (): void => removeTree(dir),
  }
}

const ownerFile = 'run-directory'

function removeOrphans(all: string): void {
  for (const name of directoriesIn(all)) {
    const owner = readTextIfExists(join(all, name, ownerFile))
    if (owner === null || !isDirectory(owner)) removeTree(join(all, name))
  }
}
