import { basename, dirname, join, posix, relative, sep } from 'node:path'
import { withoutKeys } from '../../config/agent-variables.ts'
import { GantryError } from '../../core/error.ts'
import type { DeclaredCommand } from '../../guard-engine/contract.ts'
import { guardHome, ledgerPlace } from '../../guard-engine/ledger/ledger-place.ts'
import { type Guard, openGuard } from '../../guard-engine/open-guard.ts'
import { settingsSource } from '../../guard-engine/project/declaring-files.ts'
import { viewsBelow } from '../../guard-engine/views/state-directory.ts'
import { agentEnvironment } from '../../guard-install/agent-environment.ts'
import { ownPlace } from '../../guard-install/own-place.ts'
import { installForRun } from '../../guard-install/temporary-guard.ts'
import { directoriesIn, makeDirectories, namesIn, readTextIfExists } from '../../io/directory.ts'
import { readJsonIfExists, removeTree } from '../../io/files.ts'
import { acquireLock, type Lock, lockHolder } from '../../io/lock.ts'
import { isDirectory } from '../../io/path-kind.ts'
import { makePrivateDirectories, writePrivateAtomic } from '../../io/private-store.ts'
import { openShadowRepository, type ShadowRepository } from '../../io/shadow-repository.ts'
import type { Boundary } from '../../models/boundary/contract.ts'
import { openBoundary } from '../../models/boundary/open-boundary.ts'
import { rules } from '../../rules/index.ts'
import type { LiveRun } from '../../store/contract.ts'
import type { PlanStep } from './plan-event.ts'
import type { PlanFile } from './plan-file.ts'
import type { PreparedPlan } from './prepare-plan.ts'

/** Everything a run keeps open. Let go in the reverse order, however the run ends. */
export async function openPlanWork(
  prepared: PreparedPlan,
  run: LiveRun,
  powers: Pick<PlanWork, 'step' | 'signal'>,
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
  const boundary = lazyBoundary()
  stack.defer(boundary.close)
  const work: PlanWork = {
    ...powers,
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
    boundary: boundary.open,
  }
  const kept = stack.move()
  return { work, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

function guardInProcess(root: string, env: Readonly<Record<string, string>>): Guard {
  const { guardHome, agentFiles, hookBin } = ownPlace(root, env)
  return openGuard({ rules, guardHome, env, own: agentFiles, hookBin })
}

/** What a writer of the plan leaves that is killed. */
function draftOf(plan: string): string {
  return posix.join(posix.dirname(plan), `.${posix.basename(plan)}.gantry-draft`)
}

/** The file with our hooks, and the copy of what was there before. */
function besides(root: string, path: string): readonly string[] {
  const directory = dirname(path)
  const copies = namesIn(directory).filter((name) => name.startsWith(`${basename(path)}.gantry-backup-`))
  return [path, ...copies.map((name) => join(directory, name))].map((each) =>
    relative(root, each).split(sep).join('/'),
  )
}

function lazyBoundary(): { open(): Promise<Boundary>; close(): Promise<void> } {
  let opened: Promise<Boundary> | null = null
  return {
    open: () => {
      opened ??= openBoundary({})
      return opened
    },
    close: async () => {
      await (await opened)?.close()
    },
  }
}

/** What the run was begun with stays declared, whatever became of the files since. */
function declaredIn(run: LiveRun): readonly DeclaredCommand[] | null {
  const plan = run.plan()
  if (plan === null || !('declared' in plan) || !Array.isArray(plan.declared)) return null
  // What a person's settings declare is read anew; the agent cannot change them.
  return plan.declared.filter(isDeclared).filter(({ source }) => source !== settingsSource)
}

function isDeclared(value: unknown): value is DeclaredCommand {
  if (typeof value !== 'object' || value === null || !('command' in value)) return false
  return typeof value.command === 'string'
}

/** A plan run under way: what every iteration needs. */
export interface PlanWork {
  readonly prepared: PreparedPlan
  readonly run: LiveRun
  readonly file: PlanFile
  readonly shadow: ShadowRepository
  readonly notes: PrivateNotes
  /** Declared when the run began. */
  readonly declared: readonly DeclaredCommand[]
  /** What the agent sees. */
  readonly env: Readonly<Record<string, string>>
  /** The same without the keys to the agent's model: code of the agent's making runs in it. */
  readonly checkEnv: Readonly<Record<string, string>>
  readonly home: string
  readonly tmp: string
  /** What belongs to no commit and is no work of the agent, relative to the root. */
  readonly leaveOut: readonly string[]
  /** For an agent in our own process; null for all others. */
  readonly guard: Guard | null
  boundary(): Promise<Boundary>
  step(step: PlanStep): void
  readonly signal: AbortSignal
}

/** How an iteration found the plan and the tree. */
export interface Begun {
  readonly task: string
  readonly line: number
  readonly plan: string
  /** The tree when its task was begun. */
  readonly baseline: string
}

/**
 * What a run needs word for word and must not redact: the plan's text and states of the tree. It lies with the guard's own, for
 * this user alone, and not in the run directory, which people pass on.
 */
interface PrivateNotes {
  /** Of the shadow repository. */
  readonly shadow: string
  begin(iteration: string, begun: Begun): void
  begunOf(iteration: string): Begun | null
  remove(): void
}

interface NotesPlace {
  readonly guardHome: string
  readonly root: string
  readonly runDir: string
  readonly runId: string
}

function openPrivateNotes({ guardHome, root, runDir, runId }: NotesPlace): PrivateNotes {
  const all = join(ledgerPlace(guardHome, root, '').directory, 'plan-runs')
  removeOrphans(all)
  const dir = join(all, runId)
  makePrivateDirectories(dir)
  writePrivateAtomic(join(dir, ownerFile), runDir)
  return {
    shadow: join(dir, 'shadow.git'),
    begin: (iteration, begun) => writePrivateAtomic(join(dir, `${iteration}.json`), JSON.stringify(begun)),
    begunOf: (iteration) => begunFrom(readJsonIfExists(join(dir, `${iteration}.json`))),
    remove: () => removeTree(dir),
  }
}

const ownerFile = 'run-directory'

/** Notes of runs that were cleaned away. */
function removeOrphans(all: string): void {
  for (const name of directoriesIn(all)) {
    const owner = readTextIfExists(join(all, name, ownerFile))
    if (owner === null || !isDirectory(owner)) removeTree(join(all, name))
  }
}

function begunFrom(value: unknown): Begun | null {
  if (typeof value !== 'object' || value === null) return null
  const { task, line, plan, baseline } = value as Partial<Record<keyof Begun, unknown>>
  const areTexts = [task, plan, baseline].every((text) => typeof text === 'string')
  return areTexts && typeof line === 'number' ? (value as Begun) : null
}

/** One plan run at a time in one working tree. */
export function lockProject(guardHome: string, root: string): Lock {
  const { directory } = ledgerPlace(guardHome, root, '')
  makePrivateDirectories(directory)
  const path = join(directory, 'plan-run.lock')
  const lock = acquireLock(path, { label: 'gantry plan run' })
  if (lock !== null) return lock
  const holder = lockHolder(path)
  throw new GantryError(
    'LOCKED',
    `another plan run works in ${root}${holder === null ? '' : ` (process ${holder.pid})`}`,
    { hint: 'Wait until it is done, or end that process.' },
  )
}
