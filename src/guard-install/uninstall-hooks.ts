import type { HookedAgent } from '../agents/hook-codecs.ts'
import { hookInstallerOf } from '../agents/hook-installers.ts'
import { systemClock } from '../io/clock.ts'
import {
  applyUninstall,
  type HookFileChange,
  isAsWritten,
  planUninstall,
  showChange,
} from './hook-file-change.ts'
import { contextOf, type HookTarget, steeringFiles } from './install-hooks.ts'
import { tidyPrograms } from './tidy-programs.ts'
import { withInstallLock } from './with-install-lock.ts'

export interface UninstallOutcome {
  readonly agent: HookedAgent
  readonly path: string
  /** `restored`: to the byte as before the install. `removed`: somebody changed the file since; only what is ours went. */
  readonly result: 'restored' | 'removed' | 'absent'
  /** Copies that stay because the file is not what it was. */
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
    const outcomes = plans.map(([agent, change]) =>
      outcomeOf(agent, change, applyUninstall(change, contextOf(request)).kept),
    )
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
  return agents.flatMap((agent) => {
    const installer = hookInstallerOf(agent, { events: eventsOf(agent) })
    return installer.scopes.includes(scope) ? [[agent, planUninstall(installer, scope, place)] as const] : []
  })
}

function outcomeOf(agent: HookedAgent, change: HookFileChange, kept: readonly string[]): UninstallOutcome {
  const { file, after, receipt } = change
  return {
    agent,
    path: file.path,
    result: after === file.text ? 'absent' : isAsWritten(file, receipt) ? 'restored' : 'removed',
    kept,
    diff: showChange(change),
  }
}
