import { createColors } from 'picocolors'
import { counted } from '../../core/counted.ts'
import { formatDuration } from '../../core/duration.ts'
import type { PlanEvent } from '../../guard/plan/plan-event.ts'
import { shortenEnd } from '../../report/display-width.ts'
import { plainLine } from '../../report/plain-text.ts'
import { formatCost } from '../../report/quantity.ts'
import type { CliContext } from '../context.ts'

const maxColumns = 160

/** One line per step, with its time. Text of agents and projects is made safe to print. */
export function planEventPrinter({ stdout }: CliContext): (event: PlanEvent) => void {
  const { dim } = createColors(stdout.color)
  return (event) => {
    const at = new Date(event.ts * 1000).toTimeString().slice(0, 8)
    for (const line of linesOf(event, stdout.color)) stdout.write(`${dim(at)}  ${line}\n`)
  }
}

function linesOf(event: PlanEvent, color: boolean): readonly string[] {
  const { bold, dim, green, red, yellow } = createColors(color)
  const plain = (text: string): string => shortenEnd(plainLine(text), maxColumns)
  switch (event.kind) {
    case 'plan_started':
      return [
        `${bold(plain(event.plan))}: ${event.open} of ${counted(event.tasks, 'task')} open, with ${plain(event.agent)}${event.resumed ? ', resumed' : ''}`,
        `verified by  ${event.commands.length === 0 ? 'nothing yet' : plain(event.commands.join(', '))}`,
        `guard        ${event.guard.startsWith('UNGUARDED') ? yellow(plainLine(event.guard)) : plainLine(event.guard)}`,
        dim(`run          ${event.run_id}  ${event.run_dir}`),
      ]
    case 'iteration_started':
      return [
        `${bold(`iteration ${event.iteration}`)}: ${plain(event.task)} (attempt ${event.attempt} of ${event.max_attempts})`,
      ]
    case 'tool_used':
      return [
        dim(
          `  ${plain([event.tool, event.command ?? event.path].filter((word) => word !== undefined).join(' '))}`,
        ),
      ]
    case 'agent_ended': {
      const how = event.failure === null ? endingWords(event) : yellow(plain(event.failure))
      return [`  agent ${how} after ${formatDuration(event.duration_ms)}, ${formatCost(event.cost_usd)}`]
    }
    case 'plan_restored':
      return [
        ...event.boxes.map((title) => yellow(`  box restored: ${plain(title)}`)),
        ...event.missing.map((title) => yellow(`  task restored in the plan: ${plain(title)}`)),
      ]
    case 'verified': {
      const status = event.status === 'green' ? green('green') : red(event.status.replace('_', ' '))
      const why = event.why === null ? '' : `: ${plain(event.why)}`
      return [`  ${status} ${plain(event.command)} (${formatDuration(event.duration_ms)})${why}`]
    }
    case 'task_done': {
      const commit = event.commit === null ? '' : `, commit ${event.commit.slice(0, 12)}`
      return [green(`  done: ${plain(event.task)}${commit}`)]
    }
    case 'attempt_failed':
      return [red(`  not done: ${plain(event.reason)}`)]
    case 'iteration_lost':
      return [
        yellow(`  failed for infrastructure reasons, not counted as an attempt: ${plain(event.reason)}`),
      ]
    case 'note':
      return [event.level === 'warning' ? yellow(plainLine(event.message)) : dim(plainLine(event.message))]
    case 'plan_ended':
      return endLines(event, color)
  }
}

type Ended = PlanEvent & { readonly kind: 'plan_ended' }

function endLines(event: Ended, color: boolean): readonly string[] {
  const { bold, dim, green, red, yellow } = createColors(color)
  const paint = { done: green, failed: red, inconclusive: yellow, infra: yellow, interrupted: yellow }[
    event.state
  ]
  const unmetered = event.unmetered > 0 && event.cost_usd !== null ? `, ${event.unmetered} unmetered` : ''
  const cost =
    event.iterations === 0 && event.unmetered === 0 ? '' : `, ${formatCost(event.cost_usd)}${unmetered}`
  return [
    `${bold(paint(event.state))}: ${plainLine(event.reason)}`,
    `${event.done} of ${counted(event.tasks, 'task')} done, ${counted(event.iterations, 'iteration')}${cost}, ${formatDuration(event.duration_ms)}`,
    ...event.open.slice(0, 10).map((title) => `  open: ${shortenEnd(plainLine(title), maxColumns)}`),
    ...(event.open.length > 10 ? [`  and ${event.open.length - 10} more`] : []),
    ...(event.state !== 'done' && event.run_id !== null
      ? [dim(`Continue with: gantry plan run --resume ${event.run_id}`)]
      : []),
  ]
}

function endingWords({ ending, exit_code }: PlanEvent & { readonly kind: 'agent_ended' }): string {
  if (ending === 'exited')
    return exit_code === 0 || exit_code === null ? 'stopped' : `stopped with exit code ${exit_code}`
  return ending.replaceAll('_', ' ')
}
