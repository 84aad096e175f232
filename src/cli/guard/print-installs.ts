import { createColors } from 'picocolors'
import { snakeKeys } from '../../core/json-fields.ts'
import type { PluginOutcome } from '../../guard-install/guard-plugin.ts'
import type { UninstallOutcome } from '../../guard-install/uninstall-hooks.ts'
import type { InstalledGuard } from '../../library/guard-hooks.ts'
import { plainText } from '../../report/plain-text.ts'
import type { CliContext } from '../context.ts'
import type { HookFlags } from './hook-flags.ts'

type Flags = Pick<HookFlags, 'dryRun' | 'json' | 'scope'>

export function printInstalls(
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

export function printUninstalls(
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

export function printPlugin(outcome: PluginOutcome, flags: Flags, { stdout }: CliContext): void {
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
