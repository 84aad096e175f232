import { counted } from '../../core/counted.ts'
import type { ParsedTask } from '../contract.ts'
import { oneLine, quoted } from '../markdown-text.ts'

export interface SuccessFacts {
  readonly task: ParsedTask
  readonly description: string
  readonly at: Date
  readonly filesModified: readonly SummaryFile[]
  /** What the Editor says it did, and the strategy that led there. */
  readonly what: string
  readonly strategy: string
  readonly runId: string
  readonly steps: readonly { readonly name: string; readonly command: string; readonly duration_ms: number }[]
  readonly attempts: number
  readonly replans: number
  /** Where it was verified, in words. */
  readonly sandbox: string
  readonly notes: readonly string[]
}

export interface SummaryFile {
  readonly path: string
  readonly change: 'added' | 'modified' | 'deleted'
}

/** What a person reads when a task is done. No commit message and no pull-request text: those are the person's. */
export function successSummary(facts: SuccessFacts): string {
  const { description, at, filesModified, what, strategy, runId, steps, attempts, replans, sandbox, notes } =
    facts
  const loops = `after ${counted(attempts, 'verification')}${replans === 0 ? '' : ` and ${counted(replans, 'REPLAN')}`}`
  return `# Task Completed

Completed: ${at.toISOString()}

## Task

${quoted(description)}

## What Changed

${quoted(what === '' ? 'The Editor gave no account of its own; see the files below.' : what)}

## Why

${quoted(strategy)}

## How Verified

Every step passed on exactly this tree, in ${sandbox}, ${loops}:

${steps.map(({ name, command, duration_ms }) => `- ${oneLine(name)}: \`${oneLine(command)}\` (${duration_ms} ms)`).join('\n')}

## Verification Run ID

${runId}

## Files Modified

${filesModified.map(({ path, change }) => `- ${path} (${change})`).join('\n') || '- none'}
${notes.length === 0 ? '' : `\n## Notes\n\n${notes.map((note) => `- ${oneLine(note)}`).join('\n')}\n`}`
}
