import { resolve } from 'node:path'
import { type HookedAgent, hookCodecs } from '../../agents/hook-codecs.ts'
import type { HookPlace } from '../../agents/hook-installer.ts'
import { installableAgents } from '../../agents/hook-installers.ts'
import { GantryError } from '../../core/error.ts'
import { refuseBeneathAgent } from '../../guard/unlock/prove-person.ts'
import { guardHome } from '../../guard-engine/ledger/ledger-place.ts'
import { appendNote } from '../../guard-engine/ledger/open-ledger.ts'
import { sealedPaths } from '../../guard-engine/seal/own-paths.ts'
import { currentSeal, sealFiles } from '../../guard-engine/seal/seal-files.ts'
import { type ChosenAgent, chooseAgents } from '../../guard-install/choose-agents.ts'
import { pluginFiles, removePlugin, writePlugin } from '../../guard-install/guard-plugin.ts'
import { type HookProgram, hookBinPath } from '../../guard-install/hook-program.ts'
import { type HookTarget, installHooks } from '../../guard-install/install-hooks.ts'
import { ownPlace } from '../../guard-install/own-place.ts'
import { uninstallHooks } from '../../guard-install/uninstall-hooks.ts'
import type { CliContext } from '../context.ts'
import { type HookFlags, hookPlace } from './hook-flags.ts'
import { printInstalls, printPlugin, printUninstalls } from './print-installs.ts'

/** Answers with what was done, file by file. */
export async function runInstall(
  context: CliContext,
  flags: HookFlags,
  dir: string | undefined,
): Promise<void> {
  const program: HookProgram = { node: process.execPath, hookBin: hookBinPath() }
  const dryRun = flags.dryRun === true
  if (flags.scope === 'plugin') {
    const path = pluginDirectory(context, flags, dir)
    const files = pluginFiles(hookCodecs['claude-code'].events, program)
    printPlugin(writePlugin(path, files, { dryRun }), flags, context)
    return
  }
  refuseDirectory(dir)
  const place = hookPlace(context, flags.root)
  const chosen =
    flags.agent?.map((agent): ChosenAgent => ({ agent, because: 'asked for' })) ?? chooseAgents(place)
  if (chosen.length === 0) {
    throw new GantryError('NOT_FOUND', `no agent is on the PATH, and ${place.root} has no settings of one`, {
      hint: 'Name one with --agent.',
    })
  }
  const outcomes = await installHooks({
    agents: chosen.map(({ agent }) => agent),
    scope: flags.scope,
    place,
    program,
    dryRun,
    eventsOf: (agent) => hookCodecs[agent].events,
    ...personAndSeal(place),
  })
  const told = outcomes.map((outcome) => ({
    ...outcome,
    afterwards: [...outcome.afterwards, ...copilotWarning(outcome.agent, context.env)],
  }))
  printInstalls({ root: place.root, chosen, outcomes: told }, flags, context)
}

/** Of the plugin: for Claude Code, and only there. */
export function pluginDirectory(context: CliContext, { agent }: HookFlags, dir: string | undefined): string {
  if (agent?.some((name) => name !== 'claude-code') === true) {
    throw new GantryError('USAGE', '--scope plugin is for claude-code only', {
      hint: 'Leave --agent away, or choose another scope.',
    })
  }
  if (dir === undefined) {
    throw new GantryError('USAGE', '--scope plugin needs the directory of the plugin', {
      hint: 'gantry guard install --scope plugin DIR',
    })
  }
  return resolve(context.cwd, dir)
}

export function refuseDirectory(dir: string | undefined): void {
  if (dir === undefined) return
  throw new GantryError('USAGE', `a directory, ${dir}, makes sense with --scope plugin only`, {
    hint: 'Name the project with --root DIR.',
  })
}

/**
 * Copilot also runs the hooks of Claude Code, each as a line for a shell. Claude Code takes the path of a program as it is, so that
 * no quoting suits both.
 */
function copilotWarning(
  agent: HookedAgent,
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const home = guardHome(env)
  if ((agent !== 'claude-code' && agent !== 'copilot') || /^[\w@%+=:,./-]*$/.test(home)) return []
  return [
    `The guard's home, ${home}, has characters in it that a shell does not take as they are. Copilot runs the hooks of Claude Code through a shell: where the guard is installed for Claude Code, Copilot would deny every tool. Set GANTRY_GUARD_HOME to a plain path and install again if you use Copilot here.`,
  ]
}

export async function runUninstall(
  context: CliContext,
  flags: HookFlags,
  dir: string | undefined,
): Promise<void> {
  const dryRun = flags.dryRun === true
  if (flags.scope === 'plugin') {
    const path = pluginDirectory(context, flags, dir)
    if (!dryRun) await refuseBeneathAgent({ env: context.env, pid: process.pid })
    const names = pluginFiles(hookCodecs['claude-code'].events, {
      node: process.execPath,
      hookBin: hookBinPath(),
    }).keys()
    printPlugin(removePlugin(path, names, { dryRun }), flags, context)
    return
  }
  refuseDirectory(dir)
  const place = hookPlace(context, flags.root)
  const { checkPerson, seal } = personAndSeal(place)
  const outcomes = await uninstallHooks({
    agents: flags.agent ?? installableAgents,
    scope: flags.scope,
    place,
    dryRun,
    eventsOf: (agent) => hookCodecs[agent].events,
    checkPerson,
    seal,
  })
  printUninstalls({ root: place.root, outcomes }, flags, context)
}

/** Who may change a guard that is there, and what is sealed once it was changed. */
export function personAndSeal({
  root,
  env,
}: HookPlace): Pick<HookTarget, 'checkPerson' | 'seal'> & { readonly isSealed: boolean } {
  const home = guardHome(env)
  return {
    isSealed: currentSeal(home, root) !== null,
    checkPerson: () => refuseBeneathAgent({ env, pid: process.pid }),
    seal: async (files) => {
      const paths = [...new Set([...sealedPaths(ownPlace(root, env)), ...files])]
      const note = { kind: 'sealed', files: await sealFiles(paths) } as const
      appendNote({ guardHome: home, root, note, nowMs: Date.now() })
    },
  }
}
