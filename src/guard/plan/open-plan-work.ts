import { basename, dirname, join, posix, relative, sep } from 'node:path'
import { withoutKeys } from '../../config/own-variables.ts'
import type { DeclaredCommand } from '../../guard-engine/contract.ts'
import { guardHome } from '../../guard-engine/ledger/ledger-place.ts'
import { type Guard, openGuard } from '../../guard-engine/open-guard.ts'
import { settingsSource } from '../../guard-engine/project/declaring-files.ts'
import { viewsBelow } from '../../guard-engine/views/state-directory.ts'
import { agentEnvironment } from '../../guard-install/agent-environment.ts'
import { ownPlace } from '../../guard-install/own-place.ts'
import { installForRun } from '../../guard-install/temporary-guard.ts'
import { makeDirectories, namesIn } from '../../io/directory.ts'
import { openShadowRepository } from '../../io/shadow-repository.ts'
import type { Boundary } from '../../models/boundary/contract.ts'
import { openBoundary } from '../../models/boundary/open-boundary.ts'
import { rules } from '../../rules/index.ts'
import type { LiveRun } from '../../store/contract.ts'
import type { PlanWork } from './plan-work.ts'
import type { PreparedPlan } from './prepare-plan.ts'
import { openPrivateNotes } from './private-notes.ts'

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
