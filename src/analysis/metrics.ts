import type { InteractionMetrics, SubcommandMetrics } from '../core/trial.ts'
import type { TargetInvocation } from './contract.ts'

export interface MetricsContext {
  /** The agent exited by itself with code 0. */
  readonly completed: boolean
  readonly source: InteractionMetrics['source']
}

/**
 * Counts how the target was used. A command's identity is its whole text, so the same subcommand with other arguments is not a retry. Only
 * exit codes that are known count: an unknown one is not an error, and a command whose first attempt has an unknown end is left out of
 * `first_try_success_rate` on both sides of the division. A rate for which no exit code is known is null; without any command it is 0.
 */
export function interactionMetrics(
  invocations: readonly TargetInvocation[],
  { completed, source }: MetricsContext,
): InteractionMetrics {
  const total = invocations.length
  const firstAttempts = new Map<string, number | null>()
  for (const { command, exitCode } of invocations)
    if (!firstAttempts.has(command)) firstAttempts.set(command, exitCode)
  const known = [...firstAttempts.values()].filter((exitCode) => exitCode !== null)
  const { unique, errors, retries, help } = count(invocations)
  return {
    total_commands: total,
    unique_commands: unique,
    error_count: errors,
    error_rate:
      total > 0 && invocations.every(({ exitCode }) => exitCode === null) ? null : share(errors, total),
    retry_count: retries,
    retry_rate: share(retries, total),
    help_invocations: help,
    first_try_success_rate:
      total > 0 && known.length === 0
        ? null
        : share(known.filter((exitCode) => exitCode === 0).length, known.length),
    iteration_ratio: share(unique, total),
    completed,
    source,
    subcommands: bySubcommand(invocations),
  }
}

function bySubcommand(invocations: readonly TargetInvocation[]): Record<string, SubcommandMetrics> {
  const groups = Map.groupBy(invocations, ({ subcommand }) => subcommand)
  const rows: [string, SubcommandMetrics][] = []
  for (const [subcommand, group] of groups) if (subcommand !== null) rows.push([subcommand, count(group)])
  return Object.fromEntries(rows)
}

function count(invocations: readonly TargetInvocation[]): SubcommandMetrics {
  const total = invocations.length
  const unique = new Set(invocations.map(({ command }) => command)).size
  return {
    total,
    unique,
    errors: invocations.filter(({ exitCode }) => exitCode !== null && exitCode !== 0).length,
    retries: total - unique,
    help: invocations.filter(({ help }) => help).length,
  }
}

function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole
}
