import type { HookRegistration } from '../agents/hook-codec.ts'
import type { HookedAgent } from '../agents/hook-codecs.ts'
import type { HookInstaller, HookPlace, HookScope } from '../agents/hook-installer.ts'
import { hookInstallerOf } from '../agents/hook-installers.ts'
import { GantryError } from '../core/error.ts'
import { type Clock, systemClock } from '../io/clock.ts'
import { readFiles, whySwitchedOff } from './find-installs.ts'
import { applyInstall, type HookFileChange, planInstall, showChange } from './hook-file-change.ts'
import {
  type HookLauncher,
  hookCommand,
  hookLauncher,
  isLauncherThere,
  writeLauncher,
} from './hook-launcher.ts'
import type { HookProgram } from './hook-program.ts'
import { tidyPrograms } from './tidy-programs.ts'
import { withInstallLock } from './with-install-lock.ts'

export interface HookTarget {
  readonly agents: readonly HookedAgent[]
  readonly scope: HookScope
  readonly place: HookPlace
  /** What the agent's codec understands. */
  readonly eventsOf: (agent: HookedAgent) => readonly HookRegistration[]
  /** Rejects when an agent is the caller. Asked before anything of a guard that is there is changed. */
  readonly checkPerson: () => Promise<void>
  /** Called once with every file that steers the hooks of these agents, when at least one was written. */
  readonly seal: (files: readonly string[]) => Promise<void>
  readonly clock?: Clock
}

export interface InstallRequest extends HookTarget {
  readonly program: HookProgram
  readonly dryRun: boolean
  /** Something of this project is sealed already: what is sealed anew now must be what a person has seen. */
  readonly isSealed: boolean
}

export interface InstallOutcome {
  readonly agent: HookedAgent
  readonly path: string
  /** In a dry run what would be. */
  readonly result: 'installed' | 'updated' | 'unchanged'
  readonly backup: string | null
  /** Unified; empty when nothing changes. */
  readonly diff: string
  /** Why the agent will not run the hooks all the same. */
  readonly switchedOff: string | null
  readonly afterwards: readonly string[]
}

/** All files are looked at before the first is changed: one that cannot be changed leaves all as they are. */
export async function installHooks(request: InstallRequest): Promise<readonly InstallOutcome[]> {
  if (request.dryRun) return planAll(request).map((plan) => outcomeOf(plan, null))
  return withInstallLock(request.place.env, async () => {
    const plans = planAll(request)
    const changing = plans.filter(changesAnything)
    if (changing.some(({ was }) => was !== 'absent' || request.isSealed)) await request.checkPerson()
    const outcomes: InstallOutcome[] = []
    // Before the hooks that start them.
    for (const { launcher } of plans) if (launcher !== null) writeLauncher(launcher)
    try {
      for (const plan of plans) {
        outcomes.push(outcomeOf(plan, applyInstall(plan.change, contextOf(request)).backup))
      }
      tidyPrograms(request.place.env, (request.clock ?? systemClock).now().getTime())
    } finally {
      // What was written is ours also when a later file failed.
      if (outcomes.some(({ result }) => result !== 'unchanged'))
        await request.seal([...steeringFiles(request), ...programsOf(plans, request)])
    }
    return outcomes
  })
}

export function contextOf({ place, clock }: HookTarget): {
  readonly env: HookPlace['env']
  readonly clock?: Clock
} {
  return { env: place.env, ...(clock !== undefined && { clock }) }
}

function programsOf(plans: readonly Plan[], { program }: InstallRequest): readonly string[] {
  return [program.hookBin, ...plans.flatMap(({ launcher }) => (launcher === null ? [] : [launcher.path]))]
}

interface Plan {
  readonly agent: HookedAgent
  readonly installer: HookInstaller
  readonly change: HookFileChange
  readonly was: 'absent' | 'installed' | 'outdated' | 'disabled'
  readonly launcher: HookLauncher | null
  /** Before anything is written. */
  readonly lacksLauncher: boolean
  readonly switchedOff: string | null
}

function planAll(request: InstallRequest): readonly Plan[] {
  const { agents, scope, place, program, eventsOf } = request
  return agents.map((agent) => {
    const installer = hookInstallerOf(agent, { events: eventsOf(agent) })
    if (!installer.scopes.includes(scope)) throw noScope(installer, scope)
    const command = hookCommand(agent, program, place.env)
    const launcher = hookLauncher(agent, program, place.env)
    const change = planInstall(installer, { scope, place, command })
    return {
      agent,
      installer,
      change,
      was: installer.inspect(change.file.text, command).kind,
      launcher,
      lacksLauncher: launcher !== null && !isLauncherThere(launcher),
      switchedOff: whySwitchedOff(installer, readFiles(installer.files(scope, place)), place),
    }
  })
}

function changesAnything({ change, lacksLauncher }: Plan): boolean {
  return change.after !== change.file.text || lacksLauncher
}

function outcomeOf(plan: Plan, backup: string | null): InstallOutcome {
  const { agent, installer, change, was, switchedOff } = plan
  const { file } = change
  return {
    agent,
    path: file.path,
    result: !changesAnything(plan) ? 'unchanged' : was === 'absent' ? 'installed' : 'updated',
    backup,
    diff: showChange(change),
    switchedOff,
    afterwards: installer.afterwards,
  }
}

export function steeringFiles({ agents, scope, place, eventsOf }: HookTarget): readonly string[] {
  return agents.flatMap((agent) => hookInstallerOf(agent, { events: eventsOf(agent) }).files(scope, place))
}

function noScope({ agent, scopes }: HookInstaller, scope: HookScope): GantryError {
  return new GantryError('USAGE', `${agent} has no scope ${scope}`, { hint: `It has: ${scopes.join(', ')}.` })
}
