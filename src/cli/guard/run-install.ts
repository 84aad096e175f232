import { resolve } from 'node:path'
import { hookCodecs } from '../../agents/hook-codecs.ts'
import { GantryError } from '../../core/error.ts'
import { defined } from '../../core/json-fields.ts'
import { refuseBeneathAgent } from '../../guard/unlock/prove-person.ts'
import { pluginFiles, removeGuardPlugin, writeGuardPlugin } from '../../guard-install/guard-plugin.ts'
import { buildCheckoutHook, ownHookProgram } from '../../guard-install/hook-program.ts'
import { type GuardHooksOptions, installGuard, uninstallGuard } from '../../library/guard-hooks.ts'
import type { CliContext } from '../context.ts'
import { type HookFlags, hookPlace } from './hook-flags.ts'
import { printInstalls, printPlugin, printUninstalls } from './print-installs.ts'

export async function runInstall(context: CliContext, flags: HookFlags, dir: string | undefined) {
  const program = ownHookProgram()
  const dryRun = flags.dryRun === true
  if (!dryRun) await buildCheckoutHook(program)
  if (flags.scope === 'plugin') {
    const path = pluginDirectory(context, flags, dir)
    const files = pluginFiles(hookCodecs['claude-code'].events, program)
    printPlugin(writeGuardPlugin(path, files, { dryRun }), flags, context)
    return
  }
  refuseDirectory(dir)
  const place = hookPlace(context, flags.root)
  const outcomes = await installGuard(place, optionsOf(flags, flags.scope))
  printInstalls({ root: place.root, outcomes }, flags, context)
}

function optionsOf(
  { agent: agents, enforce, dryRun }: HookFlags,
  scope: 'project' | 'user',
): GuardHooksOptions {
  return defined({ agents, enforce, scope, dryRun })
}

/** For --scope plugin, which only Claude Code supports. */
function pluginDirectory(context: CliContext, { agent }: HookFlags, dir: string | undefined): string {
  if (agent?.some((name) => name !== 'claude-code') === true) {
    throw new GantryError('USAGE', '--scope plugin is for claude-code only', {
      hint: 'Remove --agent, or choose another scope.',
    })
  }
  if (dir === undefined) {
    throw new GantryError('USAGE', '--scope plugin needs the directory of the plugin', {
      hint: 'gantry guard install --scope plugin DIR',
    })
  }
  return resolve(context.cwd, dir)
}

function refuseDirectory(dir: string | undefined): void {
  if (dir === undefined) return
  throw new GantryError('USAGE', `a directory (${dir}) is only allowed with --scope plugin`, {
    hint: 'Name the project with --root DIR.',
  })
}

export async function runUninstall(context: CliContext, flags: HookFlags, dir: string | undefined) {
  const dryRun = flags.dryRun === true
  if (flags.scope === 'plugin') {
    const path = pluginDirectory(context, flags, dir)
    if (!dryRun) await refuseBeneathAgent({ env: context.env, pid: process.pid })
    const names = pluginFiles(hookCodecs['claude-code'].events, ownHookProgram()).keys()
    printPlugin(removeGuardPlugin(path, names, { dryRun }), flags, context)
    return
  }
  refuseDirectory(dir)
  const place = hookPlace(context, flags.root)
  const outcomes = await uninstallGuard(place, optionsOf(flags, flags.scope))
  printUninstalls({ root: place.root, outcomes }, flags, context)
}
