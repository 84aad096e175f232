import { formatDuration } from '../../core/duration.ts'
import { plainLine } from '../../report/plain-text.ts'
import { formatCost } from '../../report/quantity.ts'
import type { PluginStep } from '../contract.ts'

/** Prints the steps of an evaluation as plain lines, for programs that use Gantry as a library: `onStep: consoleProgress`. */
export function consoleProgress(
  step: PluginStep,
  write: (line: string) => void = (line) => console.log(line),
): void {
  const line = lineOf(step)
  if (line !== null) write(plainLine(line))
}

function lineOf(step: PluginStep): string | null {
  switch (step.kind) {
    case 'stage_start':
      return `${step.stage} started`
    case 'stage_complete':
      return `${step.stage} is done: ${step.count} in ${formatDuration(step.duration_ms)}`
    case 'scenario_start':
      return null
    case 'scenario_complete': {
      const why = step.message === undefined ? '' : `: ${step.message}`
      return `${step.trial} ${step.outcome}, ${formatDuration(step.duration_ms)}, ${formatCost(step.cost_usd)}${why}`
    }
    case 'note':
      return step.level === 'warning' ? `warning: ${step.message}` : step.message
    case 'error':
      return `error: ${step.message}`
  }
}
