import { resolve } from 'node:path'
import { hookCodecs } from '../../agents/hook-codecs.ts'
import { GantryError } from '../../core/error.ts'
import { type ChosenAgent, chooseAgents } from '../../guard-install/choose-agents.ts'
import { pluginFiles, writePlugin } from '../../guard-install/guard-plugin.ts'
import { type HookProgram, hookBinPath } from '../../guard-install/hook-program.ts'
import { installHooks } from '../../guard-install/install-hooks.ts'
import type { CliContext } from '../context.ts'
import { copilotWarning } from './copilot-warning.ts'
import { type HookFlags, hookPlace } from './hook-flags.ts'
import { personAndSeal } from './person-and-seal.ts'
import { printInstalls, printPlugin } from './print-installs.ts'

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
