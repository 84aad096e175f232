import { join } from 'node:path'
import type { HookRegistration } from '../agents/hook-codec.ts'
import type { HookedAgent } from '../agents/hook-codecs.ts'
import type { HookInstaller, HookPlace, HookScope } from '../agents/hook-installer.ts'
import { hookInstallerOf } from '../agents/hook-installers.ts'
import { counted } from '../core/counted.ts'
import { GantryError } from '../core/error.ts'
import { guardHome } from '../guard-engine/ledger/ledger-place.ts'
import { protectedPaths } from '../guard-engine/protected-path.ts'
import { protectedFilesIn } from '../guard-engine/protection/protected-index.ts'
import { shellPrefixName } from '../guard-engine/protection/shell-prefix.ts'
import { readSettings } from '../guard-engine/settings/read-settings.ts'
import { type Clock, systemClock } from '../io/clock.ts'
import { readTextIfExists } from '../io/directory.ts'
import { pathKind } from '../io/path-kind.ts'
import { hasProgram } from '../io/private-files.ts'
import { readFiles } from './find-installs.ts'
import { excludeFromGit, includeInGit, isTracked } from './git-exclude.ts'
import {
  applyInstall,
  applyUninstall,
  type HookFileChange,
  planInstall,
  planText,
  planUninstall,
} from './hook-file-change.ts'
import { type HookLauncher, hookCommand, hookLauncher, shellPrefix, writeLauncher } from './hook-launcher.ts'
import type { HookProgram } from './hook-program.ts'
import { showChange } from './show-change.ts'
import { tidyPrograms } from './tidy-programs.ts'
import { withInstallLock } from './with-install-lock.ts'

export interface HookTarget {
  readonly agents: readonly HookedAgent[]
  readonly scope: HookScope
  readonly place: HookPlace
  /** The events that the agent's codec supports. */
  readonly eventsOf: (agent: HookedAgent) => readonly HookRegistration[]
  /** Rejects when the caller is an agent. Called before an existing guard is changed. */
  readonly checkPerson: () => Promise<void>
  /** Called once with every file that controls the hooks of these agents, if at least one was written. */
  readonly seal: (files: readonly string[]) => Promise<void>
  readonly clock?: Clock
}

export interface InstallRequest extends HookTarget {
  readonly program: HookProgram
  readonly dryRun: boolean
  /** Whether the agents' commands run with protected files read-only. Absent: as it was. */
  readonly enforceKernel?: boolean
  /** Files of this project are already sealed, so a new seal must cover only what a person has seen. */
  readonly isSealed: boolean
}

export interface InstallOutcome {
  readonly agent: HookedAgent
  readonly path: string
  /** In a dry run, what would happen. */
  readonly result: 'installed' | 'updated' | 'unchanged'
  readonly backup: string | null
  /** Unified diff; empty when nothing changes. */
  readonly diff: string
  /** Why the agent will not run the hooks. */
  readonly switchedOff: string | null
  readonly afterwards: readonly string[]
}

/** Reads all files before it changes the first: a file that cannot be changed leaves all unchanged. */
export async function installHooks(asked: InstallRequest): Promise<readonly InstallOutcome[]> {
  const request = { ...asked, readOnly: await readOnlyFiles(asked.place) }
  if (request.dryRun) return planAll(request).map((plan) => outcomeOf(plan, null))
  return withInstallLock(request.place.env, async () => {
    const plans = planAll(request)
    const changing = plans.filter(changesAnything)
    if (changing.some(({ was }) => was !== 'absent' || request.isSealed)) await request.checkPerson()
    const outcomes: InstallOutcome[] = []
    // Before the hooks that start them.
    for (const { launcher } of plans) if (launcher !== null) writeLauncher(launcher)
    for (const { prefix } of plans) if (prefix !== null) writeLauncher(prefix)
    try {
      for (const plan of plans) {
        // Before the file is there: an agent or a person may stage everything at any time.
        if (request.scope === 'project') excludeFromGit(plan.change.file.path)
        outcomes.push(outcomeOf(plan, applyInstall(plan.change, contextOf(request)).backup))
        applySandbox(plan, request)
      }
      tidyPrograms(request.place.env, (request.clock ?? systemClock).now().getTime())
    } finally {
      // Files that were written are ours even if a later file failed.
      if (outcomes.some(({ result }) => result !== 'unchanged'))
        await request.seal([...steeringFiles(request), ...programsOf(plans, request)])
    }
    return outcomes
  })
}

export function contextOf({ place, clock }: HookTarget) {
  return { env: place.env, ...(clock !== undefined && { clock }) }
}

function programsOf(plans: readonly Plan[], { program }: InstallRequest): readonly string[] {
  const written = plans.flatMap(({ launcher, prefix }) => [launcher, prefix]).filter((each) => each !== null)
  return [program.hookBin, ...written.map(({ path }) => path)]
}

/** Protected files of the project that exist, and what the guard has in it. Relative to the project. */
export async function readOnlyFiles({ root, home, env }: HookPlace): Promise<readonly string[]> {
  const { settings } = await readSettings({ root, env, userDir: guardHome(env) })
  const paths = protectedPaths(settings.fileProtection.protectedPatterns, root, home)
  const own = ['harness.json', settings.state.dir].filter((name) => pathKind(join(root, name)) !== null)
  return [...new Set([...own, ...protectedFilesIn({ root, paths, nowMs: Date.now() })])]
}

interface PlanRequest extends InstallRequest {
  /** For an agent whose own sandbox makes files read-only. */
  readonly readOnly: readonly string[]
}

function applySandbox({ sandbox }: Plan, request: InstallRequest): void {
  if (sandbox.change === null || sandbox.change.after === sandbox.change.file.text) return
  if (sandbox.isRemoved) {
    applyUninstall(sandbox.change, contextOf(request))
    includeInGit(sandbox.change.file.path)
  } else {
    excludeFromGit(sandbox.change.file.path)
    applyInstall(sandbox.change, contextOf(request))
  }
}

/** What happens to the settings of the agent's own sandbox. */
interface SandboxPlan {
  readonly change: HookFileChange | null
  readonly isRemoved: boolean
  readonly words: readonly string[]
}

const noSandbox: SandboxPlan = { change: null, isRemoved: false, words: [] }

function planSandbox(installer: HookInstaller, request: PlanRequest): SandboxPlan {
  const { scope, place, enforceKernel, readOnly } = request
  const { agent, sandbox } = installer
  if (sandbox === undefined) return noSandbox
  const path = sandbox.file(place)
  const isThere = sandbox.readOnlyIn(readTextIfExists(path)) !== null
  const files = { agent, files: () => [path], uninstall: sandbox.uninstall }
  if (enforceKernel === false && isThere)
    return { change: planUninstall(files, scope, place), isRemoved: true, words: [] }
  if (!(enforceKernel ?? isThere)) return noSandbox
  const why =
    scope === 'project'
      ? (sandbox.overruled(readFiles(installer.files(scope, place))) ??
        (isTracked(path) ? `git tracks ${path}` : null))
      : 'only the hooks of a project can have it'
  if (why !== null)
    return {
      ...noSandbox,
      words: [`Protected files are not read-only for commands: ${why}. Changes are noticed afterwards.`],
    }
  const change = planText({ ...files, install: (text) => sandbox.install(text, readOnly) }, { scope, place })
  const words = [
    `${path} makes ${counted(readOnly.length, 'file')} read-only for commands, by the sandbox of ${agent}. For protected files that are made later, install again; until then changes are noticed afterwards.`,
  ]
  return { change, isRemoved: false, words }
}

interface Plan {
  readonly agent: HookedAgent
  readonly installer: HookInstaller
  readonly change: HookFileChange
  readonly was: 'absent' | 'installed' | 'outdated' | 'disabled'
  readonly launcher: HookLauncher | null
  /** The program through which the agent's commands run. */
  readonly prefix: HookLauncher | null
  readonly sandbox: SandboxPlan
  /** Called before anything is written. */
  readonly lacksLauncher: boolean
  readonly switchedOff: string | null
}

function planAll(request: PlanRequest): readonly Plan[] {
  const { agents, scope, place, program, eventsOf, enforceKernel } = request
  return agents.map((agent) => {
    const installer = hookInstallerOf(agent, { events: eventsOf(agent) })
    if (!installer.scopes.includes(scope))
      throw new GantryError('USAGE', `${installer.agent} has no scope ${scope}`, {
        hint: `It has: ${installer.scopes.join(', ')}.`,
      })
    // A prefix of an earlier version is replaced, so that it knows this one.
    const isPrefixed =
      enforceKernel ?? currentPrefix(installer, scope, place)?.endsWith(`/${shellPrefixName}`) === true
    const prefix = isPrefixed && installer.shellPrefix !== undefined ? shellPrefix(place.env) : null
    const command = {
      ...hookCommand(agent, program, { env: place.env, root: scope === 'project' ? place.root : null }),
      ...(enforceKernel === false && { shellPrefix: null }),
      ...(prefix !== null && { shellPrefix: prefix.path }),
    }
    const launcher = hookLauncher(agent, program, place.env)
    const change = planInstall(installer, { scope, place, command })
    return {
      agent,
      installer,
      change,
      was: installer.inspect(change.file.text, command).kind,
      launcher,
      prefix,
      sandbox: planSandbox(installer, request),
      lacksLauncher: [launcher, prefix].some((each) => each !== null && !hasProgram(each.path, each.text)),
      switchedOff: installer.switchedOff?.(readFiles(installer.files(scope, place)), place) ?? null,
    }
  })
}

function currentPrefix(installer: HookInstaller, scope: HookScope, place: HookPlace): string | null {
  const [path = ''] = installer.files(scope, place)
  return installer.shellPrefix?.(readTextIfExists(path)) ?? null
}

function changesAnything({ change, sandbox, lacksLauncher }: Plan): boolean {
  return (
    [change, sandbox.change].some((each) => each !== null && each.after !== each.file.text) || lacksLauncher
  )
}

function outcomeOf(plan: Plan, backup: string | null): InstallOutcome {
  const { agent, installer, change, was, switchedOff } = plan
  const { file } = change
  return {
    agent,
    path: file.path,
    result: !changesAnything(plan) ? 'unchanged' : was === 'absent' ? 'installed' : 'updated',
    backup,
    diff: [change, plan.sandbox.change].map((each) => (each === null ? '' : showChange(each))).join(''),
    switchedOff,
    afterwards: [
      ...installer.afterwards,
      ...plan.sandbox.words,
      ...(isTracked(file.real)
        ? [
            `git tracks ${file.path}: a stash or another branch takes the hooks away, and they are put back only after a call of the agent. Untrack it: git rm --cached ${file.path}`,
          ]
        : []),
    ],
  }
}

export function steeringFiles({ agents, scope, place, eventsOf }: HookTarget): readonly string[] {
  return agents.flatMap((agent) => hookInstallerOf(agent, { events: eventsOf(agent) }).files(scope, place))
}
