import { counted } from '../../core/counted.ts'
import type { Failure } from './failure.ts'
import type { JudgedRun } from './verify-tree.ts'

export interface IterationSeen {
  readonly runs: readonly JudgedRun[]
  readonly isGreen: boolean
  /** Files that differ from when the task was begun, without the plan. */
  readonly changed: readonly string[]
  readonly plan: string
}

export type IterationVerdict =
  | { readonly kind: 'done'; readonly reason: string }
  | { readonly kind: 'not_done'; readonly failure: Failure }

/** Whether a task is done: what ran and what changed, and nothing an agent says. */
export function judgeIteration({ runs, isGreen, changed, plan }: IterationSeen): IterationVerdict {
  const no = (reason: string, tail: readonly string[] = []): IterationVerdict => ({
    kind: 'not_done',
    failure: { reason, tail },
  })
  if (runs.length === 0) return no('no verification command is declared in the project')
  const bad = runs.filter(({ status }) => status !== 'green')
  const [first] = bad
  if (!isGreen && first !== undefined) {
    const more =
      bad.length === 1
        ? ''
        : `; also not green: ${bad
            .slice(1)
            .map(({ command }) => command)
            .join(', ')}`
    return no(`${whyBad(first)}${more}`, first.tail)
  }
  if (changed.length === 0) return no(`no file besides ${plan} has changed since the task was begun`)
  const reason = `${counted(runs.length, 'command')} green, ${counted(changed.length, 'file')} changed`
  return { kind: 'done', reason }
}

function whyBad({ command, status, exitCode, failed, notCounted }: JudgedRun): string {
  switch (status) {
    case 'not_counted':
      return `${command} proves nothing: ${notCounted ?? 'its end is not known'}`
    case 'hollow':
      return `${command} ran no test`
    default:
      return (failed ?? 0) > 0
        ? `${command} failed with exit code ${exitCode} and ${counted(failed ?? 0, 'failed test')}`
        : `${command} failed with exit code ${exitCode}`
  }
}
