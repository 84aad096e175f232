import type { InteractionMetrics, TrialRecord } from '../core/trial.ts'

/** Thresholds from which a number gets a sentence. */
const limits = {
  highErrorRate: 0.25,
  /** Share of invocations that ask for help. */
  muchHelp: 0.25,
  lowFirstTry: 0.5,
  /** Repetitions beyond the distinct uses of one subcommand. */
  manyRetries: 3,
  manyCommands: 20,
}

/**
 * What the numbers likely mean for the tool and its documentation, one sentence each. A trial that did not pass gets no praise, and
 * one that did not really happen says nothing about the tool.
 */
export function diagnose({ verdict, metrics }: Pick<TrialRecord, 'verdict' | 'metrics'>): string[] {
  if (verdict === 'infra' || verdict === 'invalid') return []
  const { first_try_success_rate: firstTry, total_commands: total } = metrics
  if (metrics.source === 'none' || total === 0) return [unused(metrics)]
  const workflow = `The task took ${total} commands: the commands may be documented, but not the workflow.`
  return [
    ...errorsAndHelp(metrics, verdict === 'pass'),
    ...retried(metrics),
    ...(metrics.completed && total >= limits.manyCommands ? [workflow] : []),
    ...(firstTry !== null && firstTry < limits.lowFirstTry && metrics.error_count > 0
      ? [
          `Only ${percent(firstTry)} of the commands worked at the first attempt: the documentation misleads or the interface confuses.`,
        ]
      : []),
  ]
}

function unused({ source }: InteractionMetrics): string {
  switch (source) {
    case 'none':
      return 'No use of the tool was seen: the agent reported no tool calls, and its output shows no command of the tool.'
    case 'shim':
      return 'No call of the tool was recorded: the prompt or the guidance may not lead to it, or the agent calls it in a container.'
    default:
      return 'The agent never invoked the tool: the prompt or the guidance may not lead to it.'
  }
}

function errorsAndHelp(
  { error_rate, help_invocations, total_commands }: InteractionMetrics,
  passed: boolean,
): string[] {
  if (error_rate === null) return []
  const muchHelp = help_invocations / total_commands >= limits.muchHelp
  const helped = `asked for help ${times(help_invocations)}`
  if (error_rate >= limits.highErrorRate) {
    const failed = `${percent(error_rate)} of the invocations failed`
    return muchHelp
      ? [`${failed} although the agent ${helped}: the help output itself is not enough.`]
      : [`${failed} and the agent hardly asked for help: the documentation may show wrong examples.`]
  }
  if (muchHelp)
    return [
      `Few invocations failed, but the agent ${helped}: the help text is good, the guidance lacks examples.`,
    ]
  return passed
    ? ['Few invocations failed and little help was needed: documentation and interface are clear.']
    : []
}

function retried({ subcommands }: InteractionMetrics): string[] {
  return Object.entries(subcommands)
    .filter(([, { retries, errors }]) => retries >= limits.manyRetries && errors > 0)
    .map(
      ([name, { retries }]) =>
        `"${name}" was repeated ${times(retries)}: its error message does not help the agent recover.`,
    )
}

function percent(rate: number): string {
  return `${Math.round(rate * 100)}%`
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}
