import { counted } from '../../core/counted.ts'
import type { ParsedTask, Weakening } from '../contract.ts'
import { oneLine, quoted } from '../markdown-text.ts'

export interface SuccessFacts {
  readonly task: ParsedTask
  readonly description: string
  readonly at: Date
  readonly filesModified: readonly SummaryFile[]
  /** The Editor's description of its change, and the strategy. */
  readonly what: string
  readonly strategy: string
  readonly runId: string
  readonly steps: readonly { readonly name: string; readonly command: string; readonly duration_ms: number }[]
  readonly attempts: number
  readonly replans: number
  /** Name of the sandbox that ran the verification. */
  readonly sandbox: string
  /** In the user's tree, where the steps never run on another tree, such as one with the old tests. */
  readonly here: boolean
  readonly notes: readonly string[]
  /** Not empty: a person has to accept the task. */
  readonly weakened: readonly Weakening[]
  readonly taskId: string
}

export interface SummaryFile {
  readonly path: string
  readonly change: 'added' | 'modified' | 'deleted'
}

/** The summary of a task that passed. It proposes no commit message or pull request text; the user writes those. */
export function successSummary(facts: SuccessFacts): string {
  const { description, at, filesModified, what, strategy, runId, steps, attempts, replans, sandbox } = facts
  const { notes, weakened, taskId, here } = facts
  const loops = `after ${counted(attempts, 'verification')}${replans === 0 ? '' : ` and ${counted(replans, 'REPLAN')}`}`
  return `# Task ${weakened.length === 0 ? 'Completed' : 'Weakened'}

Completed: ${at.toISOString()}
${
  weakened.length === 0
    ? ''
    : `
## Weakened

Every step passed, but the steps prove less than before the task:

${weakened.map(({ what }) => `- ${oneLine(what)}`).join('\n')}

Look at the diff (gantry task show ${taskId} --diff). If it is what you want, accept it: gantry task accept ${taskId}
`
}
## Task

${quoted(description)}

## What Changed

${quoted(what === '' ? 'The Editor gave no description. See the files below.' : what)}

## Why

${quoted(strategy)}

## How Verified

Every step passed on exactly this tree, ${sandbox === 'host' ? 'on this machine without a sandbox' : `in ${sandbox}`}, ${loops}:

${steps.map(({ name, command, duration_ms }) => `- ${oneLine(name)}: \`${oneLine(command)}\` (${duration_ms} ms)`).join('\n')}
${here ? '\nNot run, because the task worked in your tree: the steps with the old tests and with other expected values.\n' : ''}
## Verification Run ID

${runId}

## Files Modified

${filesModified.map(({ path, change }) => `- ${oneLine(path)} (${change})`).join('\n') || '- none'}
${notes.length === 0 ? '' : `\n## Notes\n\n${notes.map((note) => `- ${oneLine(note)}`).join('\n')}\n`}`
}
