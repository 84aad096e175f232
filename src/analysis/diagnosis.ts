import type { InteractionMetrics } from '../core/trial.ts'

/** From where on a number is worth a sentence. */
const limits = {
  highErrorRate: 0.25,
  /** Share of invocations that ask for help. */
  muchHelp: 0.25,
  lowFirstTry: 0.5,
  /** Repetitions beyond the distinct uses of one subcommand. */
  manyRetries: 3,
  manyCommands: 20,
}

/** What the numbers most likely say about the tool and its documentation, one sentence each. */
export function diagnose(metrics: InteractionMetrics): string[] {
  if (metrics.source === 'none')
    return [
      'Nothing was seen of the tool being used: the agent reported no tool calls, and its output shows no command of the tool.',
    ]
  if (metrics.total_commands === 0)
    return ['The agent never invoked the tool: the prompt or the guidance may not lead to it.']
  return [
    errorsAndHelp(metrics),
    ...retried(metrics),
    ...(metrics.completed && metrics.total_commands >= limits.manyCommands
      ? [
          `The task took ${metrics.total_commands} commands: the commands may be documented, but not the workflow.`,
        ]
      : []),
    ...(metrics.first_try_success_rate < limits.lowFirstTry && metrics.error_count > 0
      ? [
          `Only ${percent(metrics.first_try_success_rate)} of the commands worked at the first attempt: the documentation misleads or the interface confuses.`,
        ]
      : []),
  ]
}

function errorsAndHelp({ error_rate, help_invocations, total_commands }: InteractionMetrics): string {
  const manyErrors = error_rate >= limits.highErrorRate
  const muchHelp = help_invocations / total_commands >= limits.muchHelp
  const rate = percent(error_rate)
  if (manyErrors && muchHelp)
    return `${rate} of the invocations failed although the agent asked for help ${times(help_invocations)}: the help output itself is not enough.`
  if (manyErrors)
    return `${rate} of the invocations failed and the agent hardly asked for help: the documentation may show wrong examples.`
  if (muchHelp)
    return `Few invocations failed, but the agent asked for help ${times(help_invocations)}: the help text is good, the guidance lacks examples.`
  return 'Few invocations failed and little help was needed: documentation and interface are clear.'
}

function retried({ subcommands }: InteractionMetrics): string[] {
  return Object.entries(subcommands)
    .filter(([, { retries, errors }]) => retries >= limits.manyRetries && errors > 0)
    .map(
      ([name, { retries }]) =>
        `"${name}" was repeated ${times(retries)}: its error message does not help to recover.`,
    )
}

function percent(rate: number): string {
  return `${Math.round(rate * 100)}%`
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}
