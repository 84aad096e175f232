import { resolve } from 'node:path'
import { createColors } from 'picocolors'
import { hookCodecs } from '../../agents/hook-codecs.ts'
import { GantryError } from '../../core/error.ts'
import { defined, snakeKeys } from '../../core/json-fields.ts'
import { refuseBeneathAgent } from '../../guard/unlock/prove-person.ts'
import {
  type PluginOutcome,
  pluginFiles,
  removeGuardPlugin,
  writeGuardPlugin,
} from '../../guard-install/guard-plugin.ts'
import { buildCheckoutHook, ownHookProgram } from '../../guard-install/hook-program.ts'
import type { UninstallOutcome } from '../../guard-install/uninstall-hooks.ts'
import {
  type GuardHooksOptions,
  type InstalledGuard,
  installGuard,
  uninstallGuard,
} from '../../library/guard-hooks.ts'
import { plainText } from '../../report/plain-text.ts'
import type { CliContext } from '../context.ts'
import { type HookFlags, hookPlace } from './hook-flags.ts'

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

type Flags = Pick<HookFlags, 'dryRun' | 'json' | 'scope'>

function printInstalls(
  { root, outcomes }: { readonly root: string; readonly outcomes: readonly InstalledGuard[] },
  flags: Flags,
  { stdout }: CliContext,
): void {
  if (flags.json === true) {
    stdout.write(documentText(flags, { root, agents: outcomes.map(snakeKeys) }))
    return
  }
  const paint = createColors(stdout.color)
  const words = flags.dryRun === true ? wouldBe : was
  for (const outcome of outcomes) {
    const { agent, path, result, backup, switchedOff, afterwards, because } = outcome
    stdout.write(`${paint.bold(agent)}: ${words[result]} in ${path} (${because})\n`)
    if (flags.dryRun === true) stdout.write(plainText(outcome.diff))
    if (backup !== null) stdout.write(`  Backup of the file: ${backup}\n`)
    if (switchedOff !== null) stdout.write(`  ${paint.yellow('It will not run')}: ${switchedOff}.\n`)
    if (result !== 'unchanged') for (const step of afterwards) stdout.write(`  ${step}\n`)
  }
}

function printUninstalls(
  { root, outcomes }: { readonly root: string; readonly outcomes: readonly UninstallOutcome[] },
  flags: Flags,
  { stdout }: CliContext,
): void {
  if (flags.json === true) {
    stdout.write(documentText(flags, { root, agents: outcomes }))
    return
  }
  const paint = createColors(stdout.color)
  const words = flags.dryRun === true ? wouldBe : was
  for (const { agent, path, result, isGone, kept, diff } of outcomes) {
    if (result === 'absent') continue
    stdout.write(
      `${paint.bold(agent)}: ${words[result]} ${path}${isGone ? ' (there was no such file before)' : ''}\n`,
    )
    if (flags.dryRun === true) stdout.write(plainText(diff))
    for (const copy of kept) stdout.write(`  The file has changed since; the earlier copy is kept: ${copy}\n`)
  }
  if (outcomes.every(({ result }) => result === 'absent'))
    stdout.write(`The guard is not installed in ${root}.\n`)
}

function printPlugin(outcome: PluginOutcome, flags: Flags, { stdout }: CliContext): void {
  if (flags.json === true) {
    stdout.write(documentText(flags, outcome))
    return
  }
  const words = flags.dryRun === true ? wouldBe : was
  stdout.write(`The plugin ${words[outcome.result]} in ${outcome.path}\n`)
  if (flags.dryRun === true) stdout.write(plainText(outcome.diff))
  else if (outcome.result === 'installed')
    stdout.write(`  Start Claude Code with it: claude --plugin-dir ${outcome.path}\n`)
}

function documentText({ dryRun, scope }: Flags, rest: object): string {
  return `${JSON.stringify({ dry_run: dryRun === true, scope, ...rest }, null, 2)}\n`
}

const was = {
  installed: 'is installed',
  updated: 'is updated',
  unchanged: 'is already installed',
  restored: 'restored exactly:',
  removed: 'removed from',
  absent: 'is not installed',
}

const wouldBe = {
  ...was,
  installed: 'would be installed',
  updated: 'would be updated',
  restored: 'would be restored exactly:',
  removed: 'would be removed from',
}
