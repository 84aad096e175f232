import { z } from 'zod'
import { type HookedAgent, hookCodecs } from '../agents/hook-codecs.ts'
import type { HookPlace } from '../agents/hook-installer.ts'
import { hookInstallerOf, installableAgents } from '../agents/hook-installers.ts'
import { GantryError } from '../core/error.ts'
import { refuseBeneathAgent } from '../guard/unlock/prove-person.ts'
import { guardHome } from '../guard-engine/ledger/ledger-place.ts'
import { appendNote } from '../guard-engine/ledger/open-ledger.ts'
import { probeKernel } from '../guard-engine/protection/kernel-layer.ts'
import { sealedPaths } from '../guard-engine/seal/guarded-paths.ts'
import { currentSeal, sealNote } from '../guard-engine/seal/seal-files.ts'
import { type ChosenAgent, chooseAgents } from '../guard-install/choose-agents.ts'
import { guardLocation } from '../guard-install/guard-location.ts'
import { ownHookProgram } from '../guard-install/hook-program.ts'
import { type HookTarget, type InstallOutcome, installHooks } from '../guard-install/install-hooks.ts'
import { type UninstallOutcome, uninstallHooks } from '../guard-install/uninstall-hooks.ts'

export const hookedAgent = z.enum(installableAgents as [HookedAgent, ...HookedAgent[]])

export const guardHooksSchema = z.strictObject({
  /** Default of an install: the agents found here. Default of an uninstall: all. */
  agents: z.array(hookedAgent).readonly().optional(),
  /** Whose hooks: those of the project, the default, or of the user. */
  scope: z.enum(['project', 'user']).optional(),
  /** Of an install: whether commands get protected files read-only, or changes are only noticed. Default: as it is set. */
  enforce: z.enum(['notice', 'kernel']).optional(),
  /** Shows what would change. */
  dryRun: z.boolean().optional(),
})

export type GuardHooksOptions = Readonly<z.output<typeof guardHooksSchema>>

export interface InstalledGuard extends InstallOutcome {
  /** Why this agent was chosen. */
  readonly because: string
}

/** Installs the guard into the hooks of agents. Other hooks stay. */
export async function installGuard(
  place: HookPlace,
  { agents, scope = 'project', dryRun = false, enforce }: GuardHooksOptions,
): Promise<readonly InstalledGuard[]> {
  const chosen = agents?.map((agent): ChosenAgent => ({ agent, because: 'asked for' })) ?? chooseAgents(place)
  if (chosen.length === 0) {
    throw new GantryError('NOT_FOUND', `no agent is on the PATH, and ${place.root} has no settings of one`, {
      hint: 'Name one with --agent.',
    })
  }
  const kernel = await kernelChoice(enforce)
  const outcomes = await installHooks({
    agents: chosen.map(({ agent }) => agent),
    ...(kernel.enforce !== undefined && { enforceKernel: kernel.enforce }),
    scope,
    place,
    program: ownHookProgram(),
    dryRun,
    eventsOf: (agent) => hookCodecs[agent].events,
    ...personAndSeal(place),
  })
  return outcomes.map((outcome, index) => ({
    ...outcome,
    afterwards: [
      ...outcome.afterwards,
      ...copilotWarning(outcome.agent, place.env),
      ...kernelWords(outcome.agent, enforce, kernel.works),
    ],
    because: chosen[index]?.because ?? 'asked for',
  }))
}

/** Removes the guard from the hooks of agents. Throws GantryError USAGE when an agent seems to be the caller. */
export async function uninstallGuard(
  place: HookPlace,
  { agents = installableAgents, scope = 'project', dryRun = false }: GuardHooksOptions,
): Promise<readonly UninstallOutcome[]> {
  const { checkPerson, seal } = personAndSeal(place)
  return uninstallHooks({
    agents,
    scope,
    place,
    dryRun,
    eventsOf: (agent) => hookCodecs[agent].events,
    checkPerson,
    seal,
  })
}

/** Tries it out before it is installed: a layer that does not work would only warn with every command. */
async function kernelChoice(
  enforce: GuardHooksOptions['enforce'],
): Promise<{ readonly enforce?: boolean; readonly works: boolean }> {
  const probe = await probeKernel()
  if (enforce === 'kernel' && probe.kind === 'off')
    throw new GantryError(
      'USAGE',
      `protected files cannot be made read-only for commands here: ${probe.why}`,
      {
        hint: 'Install bubblewrap and allow user namespaces, or install without --enforce kernel: changes are noticed afterwards.',
      },
    )
  return { works: probe.kind === 'works', ...(enforce !== undefined && { enforce: enforce === 'kernel' }) }
}

function kernelWords(
  agent: HookedAgent,
  enforce: GuardHooksOptions['enforce'],
  works: boolean,
): readonly string[] {
  const { shellPrefix, sandbox } = hookInstallerOf(agent, { events: [] })
  const can = shellPrefix !== undefined || sandbox !== undefined
  if (enforce === 'kernel' && sandbox !== undefined) return []
  if (enforce === 'kernel')
    return [
      can
        ? 'Commands run with protected files mounted read-only.'
        : `Read-only files for commands are not available for ${agent}: changes are noticed afterwards.`,
    ]
  const isOffer = enforce === undefined && can && works
  return isOffer
    ? ['Protected files can be read-only for commands here: gantry guard install --enforce kernel.']
    : []
}

/**
 * Copilot also runs the hooks of Claude Code, but through a shell. Claude Code uses the program path unquoted, so no quoting
 * works for both.
 */
function copilotWarning(agent: HookedAgent, env: HookPlace['env']): readonly string[] {
  const home = guardHome(env)
  if ((agent !== 'claude-code' && agent !== 'copilot') || /^[\w@%+=:,./-]*$/.test(home)) return []
  return [
    `The guard's home, ${home}, contains characters that are special in a shell. Copilot runs the hooks of Claude Code through a shell: where the guard is installed for Claude Code, Copilot would deny every tool. Set GANTRY_GUARD_HOME to a plain path and install again if you use Copilot here.`,
  ]
}

/** Who may change an installed guard, and what is sealed after a change. */
export function personAndSeal({
  root,
  env,
}: HookPlace): Pick<HookTarget, 'checkPerson' | 'seal'> & { readonly isSealed: boolean } {
  const home = guardHome(env)
  return {
    isSealed: currentSeal(home, root) !== null,
    checkPerson: () => refuseBeneathAgent({ env, pid: process.pid }),
    seal: async (files) => {
      const location = guardLocation(root, env)
      const note = sealNote(location, [...new Set([...sealedPaths(location), ...files])])
      appendNote({ guardHome: home, root, note, nowMs: Date.now() })
    },
  }
}
