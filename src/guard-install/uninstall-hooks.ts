import { join, relative } from 'node:path'
import type { HookedAgent } from '../agents/hook-codecs.ts'
import type { HookPlace } from '../agents/hook-installer.ts'
import { hookInstallerOf } from '../agents/hook-installers.ts'
import { systemClock } from '../io/clock.ts'
import { readTextIfExists } from '../io/directory.ts'
import { isDirectory } from '../io/path-kind.ts'
import { includeInGit, worktreesOf } from './git-exclude.ts'
import { applyUninstall, type HookFileChange, isAsWritten, planUninstall } from './hook-file-change.ts'
import { contextOf, type HookTarget, steeringFiles } from './install-hooks.ts'
import { showChange } from './show-change.ts'
import { tidyPrograms } from './tidy-programs.ts'
import { withInstallLock } from './with-install-lock.ts'

export interface UninstallOutcome {
  readonly agent: HookedAgent
  readonly path: string
  /** `restored`: byte for byte as before the install. `removed`: the file was changed since, so only our hooks were removed. */
  readonly result: 'restored' | 'removed' | 'absent'
  /** There was no such file before the install, so there is none now. */
  readonly isGone: boolean
  /** Copies that stay because the file differs from the original. */
  readonly kept: readonly string[]
  readonly diff: string
}

export interface UninstallRequest extends HookTarget {
  readonly dryRun: boolean
}

export async function uninstallHooks(request: UninstallRequest): Promise<readonly UninstallOutcome[]> {
  if (request.dryRun) return planAll(request).map(([agent, change]) => outcomeOf(agent, change, []))
  return withInstallLock(request.place.env, async () => {
    const plans = planAll(request)
    const changes = plans.some(([, { file, after }]) => after !== file.text)
    if (changes) await request.checkPerson()
    const outcomes = plans.map(([agent, change]) => {
      const outcome = outcomeOf(agent, change, applyUninstall(change, contextOf(request)).kept)
      if (request.scope === 'project') includeInGit(change.file.path)
      return outcome
    })
    tidyPrograms(request.place.env, (request.clock ?? systemClock).now().getTime())
    if (changes) await request.seal(steeringFiles(request))
    return outcomes
  })
}

function planAll({
  agents,
  scope,
  place,
  eventsOf,
}: HookTarget): readonly (readonly [HookedAgent, HookFileChange])[] {
  const others = (scope === 'project' ? linkedPlaces(place) : [])
    .flatMap((each) => agents.flatMap((agent) => planOf(agent, each)))
    .filter(([, { file, after }]) => after !== file.text)
  return [...agents.flatMap((agent) => planOf(agent, place)), ...others]

  function planOf(agent: HookedAgent, at: HookPlace): readonly (readonly [HookedAgent, HookFileChange])[] {
    const installer = hookInstallerOf(agent, { events: eventsOf(agent) })
    if (!installer.scopes.includes(scope)) return []
    const { sandbox } = installer
    const path = sandbox?.file(at)
    const own =
      scope !== 'project' || sandbox === undefined || path === undefined
        ? []
        : sandbox.readOnlyIn(readTextIfExists(path)) === null
          ? []
          : [planUninstall({ agent, files: () => [path], uninstall: sandbox.uninstall }, scope, at)]
    // The directory of the hooks goes when it is empty.
    return [...own, planUninstall(installer, scope, at)].map((change) => [agent, change] as const)
  }
}

/** The same project in the worktrees that belong to this repository. */
function linkedPlaces(place: HookPlace): readonly HookPlace[] {
  return worktreesOf(place.root).flatMap(({ top, here }) =>
    isDirectory(join(here, '.git')) ? [{ ...place, root: join(top, relative(here, place.root)) }] : [],
  )
}

function outcomeOf(agent: HookedAgent, change: HookFileChange, kept: readonly string[]): UninstallOutcome {
  const { file, after, receipt } = change
  return {
    agent,
    path: file.path,
    result: after === file.text ? 'absent' : isAsWritten(file, receipt) ? 'restored' : 'removed',
    isGone: after === null && file.text !== null,
    kept,
    diff: showChange(change),
  }
}
