import { writeFileAtomic } from '../io/files.ts'
import { pointLink } from '../io/point-link.ts'
import { type ActiveTask, currentStrategy } from './active-task.ts'
import type { LoopCounters, ScoutDecision, SnapshotTrigger } from './contract.ts'
import { oneLine } from './markdown-text.ts'

/**
 * Writes exactly one snapshot per milestone, `reports/context_NNN.md` in the run directory, even if the process dies right after
 * writing it. `context_latest.md` is a link to the last one.
 */
export async function takeSnapshot(active: ActiveTask, trigger: SnapshotTrigger): Promise<void> {
  const { journal, known, tree, baseline, run, context, emit, now } = active
  const { replans } = known.counters
  const path = await journal.step(`snapshot-${trigger.replace('_', '-')}-${replans}`, async () => {
    const { counters, attempts, scoutA, scoutB, decisions } = known
    const text = snapshotText({
      ...{ trigger, at: now(), scoutA: scoutA?.raw ?? null, scoutB: scoutB?.raw ?? null },
      hypothesis: currentStrategy(active),
      filesModified: await tree.changes(baseline.tree, await tree.take()),
      verifyAttempts: attempts.length,
      counters,
      decisions,
    })
    const number = replans + (trigger === 'task_success' ? 2 : 1)
    const name = `context_${String(number).padStart(3, '0')}.md`
    writeFileAtomic(run.reportPath(name), context.redaction.text(text))
    pointLink(run.reportPath('context_latest.md'), name)
    return `reports/${name}`
  })
  emit({ kind: 'snapshot', path, milestone: trigger })
}

/** What the Editor knew at a milestone. Conversations with models are never in it. */
export interface Snapshot {
  readonly trigger: SnapshotTrigger
  readonly at: Date
  /** The Scouts' answers exactly as they were received; null when one was not asked. */
  readonly scoutA: string | null
  readonly scoutB: string | null
  readonly hypothesis: string
  readonly filesModified: readonly string[]
  readonly verifyAttempts: number
  readonly counters: LoopCounters
  readonly decisions: readonly ScoutDecision[]
}

const titles: Readonly<Record<SnapshotTrigger, string>> = {
  task_start: 'Task start',
  replan: 'REPLAN',
  task_success: 'Task success',
}

export function snapshotText(snapshot: Snapshot): string {
  const { trigger, at, scoutA, scoutB, filesModified, counters, decisions } = snapshot
  return `# Context Snapshot

## Timestamp

${at.toISOString()}

## Milestone

${titles[trigger]}

## Scout A Report

${fenced(scoutA)}

## Scout B Report

${fenced(scoutB)}

## Editor State

- Hypothesis: ${oneLine(snapshot.hypothesis)}
- Files modified: ${filesModified.join(', ') || 'none'}
- Verify attempts: ${snapshot.verifyAttempts}
- Consecutive failures: ${counters.consecutiveFailures}
- Total loops: ${counters.totalVerifyLoops}
${decisions.length === 0 ? '' : `\n## Decisions\n\n${decisions.map(decisionText).join('\n')}\n`}`
}

function decisionText({ question, decision, rationale }: ScoutDecision): string {
  return `- ${oneLine(question)}: ${oneLine(decision)}, because ${oneLine(rationale)}`
}

/** The fence is longer than any in the text, so the text cannot close it. */
function fenced(raw: string | null): string {
  if (raw === null) return 'Not asked.'
  const longest = Math.max(2, ...[...raw.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}json\n${raw}\n${fence}`
}
